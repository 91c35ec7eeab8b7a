// Answers the rows of standard input by a model file, in C++, with nothing but libslimbayes_serve:
//
//   c++ -std=c++20 predict.cpp -I PREFIX/include -L PREFIX/lib -lslimbayes_serve -Wl,-rpath,PREFIX/lib -o predict
//   ./predict model.safetensors 0.9 < rows.txt
//
// A line holds the cells of a row, separated by commas without quotes. An empty cell is a missing one.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/serve/model.h"

namespace {

std::vector<std::string_view> cut(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t end = line.find(','); end != std::string_view::npos; end = line.find(',')) {
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  cells.push_back(line);
  return cells;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw std::invalid_argument("expected a model file, and perhaps a level; received nothing");
    const auto model = slimbayes::serve::Model::open(argv[1]);
    const double level = argc > 2 ? std::atof(argv[2]) : 0.95;
    for (const slimbayes::serve::ColumnInfo& column : model.columns()) std::cerr << column.name << ' ';
    std::cerr << '\n';
    std::puts("mean,sd,lower,upper");
    for (std::string line; std::getline(std::cin, line);) {
      const std::vector<std::string_view> cells = cut(line);
      const auto answer = model.predict(std::span<const std::string_view>(cells), level);
      std::printf("%.9g,%.9g,%.9g,%.9g\n", answer.mean, answer.sd, answer.lower, answer.upper);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}

// Answers rows over HTTP by a model file, with libslimbayes_serve, cpp-httplib and nlohmann-json:
//
//   c++ -std=c++20 -O2 http_server.cpp -I PREFIX/include -L PREFIX/lib -lslimbayes_serve -lcpp-httplib -lpthread -o http_server
//   ./http_server model.safetensors 8080
//   curl localhost:8080/predict -d '{"level": 0.9, "rows": [{"size": 80, "street": "north"}]}'
//
// (Debian: libcpp-httplib-dev, nlohmann-json3-dev; -lcpp-httplib where the package has a library, as there;
// upstream is a header alone.) GET /model says what the
// model is. A column that a row leaves out, or null, is a missing cell; other names are refused. A model of
// windows takes a list of rows, oldest first, in place of each row; one of texts {"COLUMN": "the text"}.
// Listens on the loopback address alone: put it behind a server that knows who may ask.
#include <httplib.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/serve/model.h"

namespace {

using nlohmann::json;
using slimbayes::serve::Model;

/// The text of a cell, as a CSV file would have it.
std::string text_of(const json& cell) {
  if (cell.is_null()) return "";
  return cell.is_string() ? cell.get<std::string>() : cell.dump();
}

/// Throws std::invalid_argument for a name that is no column of the model: a misspelled one would be a
/// missing cell.
void check_names(const Model& model, const json& row) {
  if (!row.is_object())
    throw std::invalid_argument("expected an object with the columns; received " + row.dump());
  for (const auto& [name, cell] : row.items()) {
    const auto same = [&name = name](const auto& column) { return column.name == name; };
    if (std::ranges::none_of(model.columns(), same))
      throw std::invalid_argument("expected columns of the model; received '" + name +
                                  "'; GET /model names them");
  }
}

/// The text of an error without the name of the function that threw it.
std::string said(const std::exception& error) {
  const std::string_view text = error.what();
  return std::string(text.starts_with('[') ? text.substr(text.find("] ") + 2) : text);
}

/// The answer to a row of cells: numbers or counts with an interval, or the probabilities of classes.
json answer(const Model& model, std::span<const std::string_view> cells, double level) {
  if (model.classes().empty()) {
    const auto a = model.predict(cells, level);
    return {{"mean", a.mean}, {"sd", a.sd}, {"lower", a.lower}, {"upper", a.upper}};
  }
  std::vector<double> p(model.classes().size());
  const auto a = model.classify(cells, p);
  json probabilities;
  for (std::size_t c = 0; c < p.size(); ++c) probabilities[model.classes()[c]] = p[c];
  return {{"label", model.classes()[a.label]},
          {"probabilities", probabilities},
          {"mutual_information", a.mutual_information}};
}

json answers(const Model& model, const json& request) {
  const double level = request.value("level", 0.95);
  json all = json::array();
  if (!request.contains("rows")) throw std::invalid_argument("expected a list \"rows\"; received none");
  for (const json& given : request["rows"]) {
    std::vector<std::string> texts;
    try {
      for (const json& row : given.is_array() ? given : json::array({given})) {
        check_names(model, row);
        for (const auto& column : model.columns()) texts.push_back(text_of(row.value(column.name, json())));
      }
      const std::vector<std::string_view> cells(texts.begin(), texts.end());
      all.push_back(answer(model, cells, level));
    } catch (const std::exception& error) {
      throw std::invalid_argument("in element " + std::to_string(all.size() + 1) +
                                  " of rows: " + said(error));
    }
  }
  if (!model.classes().empty()) return {{"answers", all}};  // without an interval
  return {{"level", level}, {"answers", all}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::invalid_argument("expected a model file and a port; received fewer arguments");
    const auto model = Model::open(argv[1]);
    httplib::Server server;
    server.Get("/model", [&](const httplib::Request&, httplib::Response& out) {
      out.set_content(model.describe(), "application/json");
    });
    server.Post("/predict", [&](const httplib::Request& in, httplib::Response& out) {
      try {
        out.set_content(answers(model, json::parse(in.body)).dump(), "application/json");
      } catch (const std::exception& error) {  // a row that the model refuses, or a body that is no JSON
        out.status = 400;
        out.set_content(json{{"error", said(error)}}.dump(), "application/json");
      }
    });
    if (!server.listen("127.0.0.1", std::atoi(argv[2])))
      throw std::runtime_error("expected a free port; received " + std::string(argv[2]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}

#include "slimbayes/model/maps.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/images/png.h"

namespace slimbayes {

void write_maps(const Model& model, const Classes& p, int64_t image, int64_t images,
                const std::filesystem::path& folder) {
  const Task& task = model.schema().task;
  const std::vector<int64_t> sizes = {task.grid->height, task.grid->width};
  const size_t digits = fmt::format("{}", images).size();
  const auto path = [&](const char* what) {
    return folder / fmt::format("{:0{}}_{}.png", image + 1, digits, what);
  };
  const double white = std::log(static_cast<double>(task.levels.size()));
  write_class_map(path("classes"), predicted_class(p).view(sizes), class_colours(std::ssize(task.levels)));
  write_grey_map(path("entropy"), p.predictive_entropy.view(sizes), white);
  if (find_method(model.method()).parts != SdParts::noise_only)
    write_grey_map(path("mutual_information"), mutual_information(p).view(sizes), white);
}

Table legend_of(const Model& model) {
  const std::vector<std::string>& levels = model.schema().task.levels;
  const std::vector<Colour> colours = class_colours(std::ssize(levels));
  Table table;
  table.rows = std::ssize(levels);
  std::vector<double> number;
  for (size_t c = 0; c < levels.size(); ++c) number.push_back(static_cast<double>(c));
  table.columns.push_back({"class", ColumnKind::numeric, number, {}});
  table.columns.push_back({"name", ColumnKind::categorical, number, levels});
  for (const auto& [name, channel] :
       {std::pair{"red", size_t{0}}, {"green", size_t{1}}, {"blue", size_t{2}}}) {
    std::vector<double> values;
    for (const Colour& colour : colours) values.push_back(colour[channel]);
    table.columns.push_back({name, ColumnKind::numeric, values, {}});
  }
  return table;
}

}  // namespace slimbayes

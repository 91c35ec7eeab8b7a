// Reads the data of commands from a file or from stdin, within the memory limits of limit_tables().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::cli {
namespace {

TableLimits limits;
std::string device_of_answers = "cpu";

/// Returns the model on the device that was asked for.
template <class M>
M on_asked(M model) {
  return device_of_answers == "cpu" ? std::move(model) : model.on(device_of_answers);
}

std::string read_stdin(const TableBound& bound) {
  std::string text;
  std::array<char, 1 << 16> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), stdin)) {
    text.append(block.data(), got);
    bound.check(2 * text.size(), "stdin");  // twice: the parsed cells take as much memory again
  }
  if (std::ferror(stdin) != 0) throw DataError("stdin", "expected CSV; received a read error; try a file");
  return text;
}

/// Refuses a file of several targets.
void check_one_target_in(const TensorFile& file, const std::string& command, const std::string& path) {
  if (!is_joint(file)) return;
  std::vector<std::string> names;
  const nlohmann::json targets = stored_json(file, kJointTargets);
  for (const auto& name : targets)
    if (name.is_string()) names.push_back(in_quotes(name.get<std::string>()));
  refuse(
      command, "a model of one target",
      fmt::format("one of {}, '{}'", fmt::join(names, ", "), foreign_text(path)),
      fmt::format("predict, evaluate and describe take it; for {} fit one of these targets alone", command));
}

/// Returns the answers of a model of one target or of several, and shows meanwhile how much is done.
template <class AnyModel>
auto shown_answers(const std::string& title, const AnyModel& model, const Examples& data,
                   const AnswerRequest& ask) {
  AnswerProgress shown(title);
  PredictOptions options;
  options.progress = [&shown](double share) { shown.report(share); };
  return model.answers(data, ask, options);
}

}  // namespace

void limit_tables(const TableLimits& given) { limits = given; }

const TableLimits& limits_of_tables() { return limits; }

void answer_on(const std::string& device) { device_of_answers = device; }

const std::string& answering_device() { return device_of_answers; }

std::string name_of_files(const std::vector<std::string>& files) {
  if (files.size() == 1) return files.front();
  return fmt::format("{} and {} more file{}", files.front(), files.size() - 1, files.size() == 2 ? "" : "s");
}

DataSource data_source() {
  DataSource source = DataSource::files(limits);
  source.read = [files = source.read](const std::string& path, const Reading& reading) {
    if (path != "-") return files(path, reading);
    const TableBound bound = TableBound::of(limits, 0);
    return parse_csv(read_stdin(bound), separator_of_csv(reading.notation), {"stdin", reading, bound});
  };
  return source;
}

DataSource data_source(const std::string& command, const std::vector<std::string>& files) {
  DataSource source = data_source();
  if (files.size() < 2) return source;
  check(std::ranges::find(files, "-") == files.end(), command, "files beside each other",
        "'-', standard input, beside files", "give it alone");
  source.read = [files](const std::string&, const Reading& reading) {
    return read_tables({files.begin(), files.end()}, name_of_files(files), reading, limits);
  };
  return source;
}

DataSource data_source(const std::string& command, const std::vector<std::string>& files,
                       const Model& model) {
  if (files.size() > 1 && are_images(kind_of(model.encoder())))
    refuse(command, "one file of images", fmt::format("{}", files.size()), "give one of them");
  return data_source(command, files);
}

Model load_model(const std::string& command, const std::string& path) {
  const TensorFile file = read_tensor_file(path);
  check_one_target_in(file, command, path);
  return on_asked(Model::from_file(file, path));
}

std::variant<Model, JointModel> load_asked(const std::string& path) {
  return std::visit([](auto model) { return std::variant<Model, JointModel>(on_asked(std::move(model))); },
                    load_any(path));
}

void check_one_target(const std::string& command, const std::string& path) {
  check_one_target_in(read_tensor_file(path), command, path);
}

void log_interrupted(const Model& model) {
  if (model.interrupted()) log_line(fmt::format("note: {}", kInterruptedNote));
}

Answers answers_with_progress(const std::string& title, const Model& model, const Examples& data,
                              const AnswerRequest& ask) {
  return shown_answers(title, model, data, ask);
}

JointAnswers answers_with_progress(const std::string& title, const JointModel& model, const Examples& data,
                                   const AnswerRequest& ask) {
  return shown_answers(title, model, data, ask);
}

}  // namespace slimbayes::cli

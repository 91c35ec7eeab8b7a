// Fits and comparisons, and the description of methods and options from which the keywords derive.
#include <ATen/ATen.h>
#include <pybind11/stl.h>

#include <chrono>

#include "binding/binding.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/method_facts.h"
#include "slimbayes/catalog/recipe.h"
#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/model/data_file.h"

namespace slimbayes::python {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Watches a fit for Python. Ctrl-C stops it; progress goes to a Python function, which may be None. The
/// library calls it without the lock of the interpreter.
class Watcher : public Callback {
 public:
  explicit Watcher(py::object show) : show_(std::move(show)) {}
  ~Watcher() override {
    const py::gil_scoped_acquire locked;
    show_ = {};
  }

  void report(const Progress& p) override {
    json facts = {
        {"step", p.step}, {"steps", p.steps}, {"loss", p.loss}, {"best", p.best}, {"stage", stage_}};
    show(facts);
  }
  void stage(const std::string& name) override {
    stage_ = name;
    show({{"stage", name}});
  }
  void note(const std::string& sentence) override { show({{"note", in_python(sentence)}}); }

  /// Asks Python for signals at most twenty times a second: a training step can take microseconds.
  bool stop() override {
    const auto now = std::chrono::steady_clock::now();
    if (raised_ || now < next_) return raised_ != nullptr;
    next_ = now + std::chrono::milliseconds(50);
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) raised_ = std::make_shared<py::error_already_set>();
    return raised_ != nullptr;
  }

  bool stopped() const { return raised_ != nullptr; }
  std::chrono::steady_clock::time_point began() const { return began_; }  // of the watched call
  /// Whether what stopped the fit was Ctrl-C, after which the best model so far is kept.
  bool by_keyboard() const {
    const py::gil_scoped_acquire locked;
    return raised_ && raised_->matches(PyExc_KeyboardInterrupt);
  }
  /// Throws what Python's handler of the signal raised, KeyboardInterrupt for Ctrl-C.
  [[noreturn]] void raise() const { throw py::error_already_set(*raised_); }

 private:
  void show(const json& facts) {
    if (raised_ || show_.is_none()) return;
    const py::gil_scoped_acquire locked;
    try {
      show_(to_text(facts));
    } catch (const py::error_already_set& error) {
      raised_ = std::make_shared<py::error_already_set>(error);
    }
  }

  py::object show_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string stage_;
  std::chrono::steady_clock::time_point next_ = {};
  std::shared_ptr<py::error_already_set> raised_;
};

/// The options of a fit and the choices that the method decides.
struct Request {
  FitOptions fit;
  MethodChoices choices;
};

/// Reads {"fit": {...}, "method", "options", "run": {"seed", "level", "threads", "device"}, "preset",
/// "tune": true or a list}.
Request request_of(const std::string& text) {
  const json given = from_text(text);
  Request request;
  FitOptions& fit = request.fit = options_from_json<FitOptions>(given.at("fit"), "fit");
  fit.method = given.at("method");
  fit.options = given.at("options");
  const auto run = options_from_json<RunOptions>(given.at("run"), "fit");
  fit.seed = run.seed;
  fit.level = run.level;
  fit.threads = run.threads;
  fit.device = run.device;
  request.choices.preset = given.at("preset");
  const json& tune = given.at("tune");
  if (tune.is_boolean())
    request.choices.tune = tune;
  else
    fit.tune = tune.get<Words>();
  return request;
}

/// Checks a request as far as possible without data. Returns the recipe of the fit as JSON, as `fit
/// --dry-run` of the tool prints it.
std::string resolved(const std::string& text) {
  const Request request = request_of(text);
  const FitOptions& fit = request.fit;
  check_fractions(fit);
  const MethodInfo& method =
      fit.method.empty() ? default_method(TaskKind::regression) : find_method(fit.method);
  const ChosenOptions chosen = choose_options(method, fit.options, request.choices);
  return to_text(recipe(fit, method, chosen.options, chosen.tune));
}

/// Returns a source that reads this frame in the place of a file. Empties the frame.
DataSource source_of_frame(Frame& frame) {
  return {
      [&frame](const std::string&, const Reading& reading) { return read_frame(std::move(frame), reading); }};
}

/// Returns the training examples in a frame, and completes the options as read_training does.
Examples training_of(Frame& frame, FitOptions& fit, Words& notes) {
  fit.format = "table";
  const std::string name = frame.source;
  Examples examples = read_training(name, fit, source_of_frame(frame), &notes);
  fit.format = "auto";
  return examples;
}

/// The result of a fit for Python.
struct Fit {
  std::shared_ptr<Model> model;
  std::string valid, test;  // reports as JSON
  Words notes;
  bool interrupted;
};

Fit fit_examples(const Examples& examples, const Examples* valid, const Request& request, Words notes,
                 Watcher& watcher) {
  const Gradients on;
  ResolvedFit resolved = resolve_fit(examples, request.fit, request.choices);
  resolved.began = watcher.began();
  FitOutcome out = fit_in_memory(resolved, examples, valid, notes, watcher);
  if (watcher.stopped() && !(out.model && watcher.by_keyboard())) watcher.raise();
  if (out.interrupted)
    out.notes.insert(out.notes.begin(), "interrupted: the model holds what was fitted so far");
  const auto text_of = [](const std::optional<Evaluation>& report) {
    return to_text(report ? fields_to_json(*report) : json());
  };
  return {std::make_shared<Model>(*std::move(out.model)), text_of(out.valid), text_of(out.test),
          in_python(out.notes), out.interrupted};
}

Fit fit_table(Frame& frame, const std::string& text, Frame* valid, const py::object& show) {
  Watcher watcher(show);
  const py::gil_scoped_release released;
  Request request = request_of(text);
  Words notes;
  const std::shared_ptr<const Model> network = network_asked(request.fit);
  if (network) request.fit = with_network_from(request.fit, *network);
  const Examples examples = training_of(frame, request.fit, notes);
  std::optional<Examples> own;
  if (valid != nullptr)
    own = read_validation(valid->source, examples, request.fit, source_of_frame(*valid), &notes);
  return fit_examples(examples, own ? &*own : nullptr, request, std::move(notes), watcher);
}

Fit fit_images(const Images& images, const std::string& text, const Images* valid, const py::object& show) {
  Watcher watcher(show);
  const py::gil_scoped_release released;
  const Request request = request_of(text);
  std::optional<Examples> own;
  if (valid != nullptr) own = *valid;
  return fit_examples(images, own ? &*own : nullptr, request, {}, watcher);
}

/// The result of a fit of several targets for Python.
struct JointFit {
  std::shared_ptr<JointModel> model;
  std::string valid, test;  // reports as JSON
  Words notes;
  bool interrupted;
};

/// Fits the columns of the comma-separated list `target` in the request. An interrupted fit has no model, so
/// Ctrl-C is raised.
JointFit fit_targets(Frame& frame, const std::string& text, Frame* valid, const py::object& show) {
  Watcher watcher(show);
  const py::gil_scoped_release released;
  Request asked = request_of(text);
  JointRequest request{.fit = std::move(asked.fit), .choices = std::move(asked.choices)};
  Words notes;
  const Examples examples = training_of(frame, request.fit, notes);
  std::optional<Examples> own;
  if (valid != nullptr)
    own = read_validation(valid->source, examples, request.fit, source_of_frame(*valid), &notes);
  const Gradients on;
  JointOutcome out =
      fit_joint(std::get<Table>(examples), request, own ? &std::get<Table>(*own) : nullptr, notes, watcher);
  if (watcher.stopped() && !(out.model && watcher.by_keyboard())) watcher.raise();
  if (!out.model) throw std::runtime_error("the fit ended before all targets had a model");
  const auto model = std::make_shared<JointModel>(*std::move(out.model));
  const auto text_of = [&](const std::optional<JointReport>& report) {
    return to_text(report ? report_json(*model, *report) : json());
  };
  return {model, text_of(out.valid), text_of(out.test), in_python(out.notes), out.interrupted};
}

/// Returns the runs of each method (MethodRuns) as JSON.
std::string compared(Frame& frame, const std::string& text, const std::string& plan_text,
                     const py::object& show) {
  Watcher watcher(show);
  const py::gil_scoped_release released;
  Request request = request_of(text);
  const json plan = from_text(plan_text);
  Words notes;
  const Examples examples = training_of(frame, request.fit, notes);
  std::vector<MethodChoice> methods;
  const Gradients on;
  const bool named = !plan.at("methods").empty();
  for (const MethodInfo& info : method_catalog()) {
    if (!named && !info.plain) methods.push_back({info.name, info.resolve(json::object())});
  }
  for (const json& one : plan.at("methods")) {
    const MethodInfo& info = find_method(one.at("method").get<std::string>());
    methods.push_back({info.name, preset_options(info, request.choices.preset, one.at("options"))});
  }
  struct WithoutNotes : Callback {  // the reports hold them
    explicit WithoutNotes(Watcher& given) : watcher(given) {}
    void report(const Progress& progress) override { watcher.report(progress); }
    void stage(const std::string& name) override { watcher.stage(name); }
    bool stop() override { return watcher.stop(); }
    Watcher& watcher;
  } progress(watcher);
  const std::vector<MethodRuns> results =
      compare(examples, request.fit, methods_to_compare(examples, request.fit, methods, named),
              options_from_json<ComparisonPlan>(plan.at("plan"), "compare"), notes, &progress);
  if (watcher.stopped() && (results.empty() || !watcher.by_keyboard())) watcher.raise();
  json out = {{"interrupted", watcher.stopped()}, {"results", json::array()}};
  for (const MethodRuns& each : results)
    out["results"].push_back({{"method", each.method},
                              {"runs", sentences_in_python(fields_to_json(each.runs))},
                              {"failure", in_python(each.failure)}});
  return to_text(out);
}

/// Returns every option of a fit, of its run and of a comparison, and every method with its options, as JSON.
std::string description() {
  json out = {{"fit", json::array()}, {"methods", json::array()}};
  for (const OptionDoc& doc : option_docs<FitOptions>()) {
    json facts = sentences_in_python(option_facts(doc));
    facts["section"] = doc.section;
    out["fit"].push_back(std::move(facts));
  }
  for (const OptionDoc& doc : option_docs<RunOptions>()) out["run"].push_back(option_facts(doc));
  for (const OptionDoc& doc : option_docs<ComparisonPlan>()) out["compare"].push_back(option_facts(doc));
  for (const MethodInfo& info : method_catalog()) {
    out["methods"].push_back(sentences_in_python(method_facts(info, /*options=*/true)));
  }
  return to_text(out);
}

}  // namespace

void bind_fit(py::module_& module) {
  py::class_<Fit>(module, "Fit")
      .def_readonly("model", &Fit::model)
      .def_readonly("valid", &Fit::valid)
      .def_readonly("test", &Fit::test)
      .def_readonly("notes", &Fit::notes)
      .def_readonly("interrupted", &Fit::interrupted);
  module.def("fit", &fit_table, py::arg("frame"), py::arg("request"), py::arg("valid") = nullptr,
             py::arg("show") = py::none());
  module.def("fit", &fit_images, py::arg("images"), py::arg("request"), py::arg("valid") = nullptr,
             py::arg("show") = py::none());
  py::class_<JointFit>(module, "JointFit")
      .def_readonly("model", &JointFit::model)
      .def_readonly("valid", &JointFit::valid)
      .def_readonly("test", &JointFit::test)
      .def_readonly("notes", &JointFit::notes)
      .def_readonly("interrupted", &JointFit::interrupted);
  module.def("fit_joint", &fit_targets, py::arg("frame"), py::arg("request"), py::arg("valid") = nullptr,
             py::arg("show") = py::none());
  module.def("compare", &compared, py::arg("frame"), py::arg("request"), py::arg("plan"),
             py::arg("show") = py::none());
  module.def("description", &description);
  module.def("resolved", &resolved, py::arg("request"));
}

}  // namespace slimbayes::python

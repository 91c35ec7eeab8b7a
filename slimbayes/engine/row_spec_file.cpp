#include "slimbayes/engine/row_spec_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "slimbayes/storage/check.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::engine {

namespace {

using nlohmann::json;

constexpr const char* kFunction = "stored_rows";
constexpr const char* kDamaged = "the model file is damaged";

// Each function names the fields of a part once, for both directions: `part` is const where it is stored.

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, FeatureSpec> {
  v("inputs", part.inputs);
  v.network("network", part.network);
  v("basis", part.basis);
  v("rank", part.rank);
  v.choice("of", part.of, {"outputs", "last_layer"});
  v("exact", part.exact);
  v("values", part.values);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, LinearHead> {
  v("constant", part.constant);
  v("noise_var", part.noise_var);
  v("weights", part.weights);
  v("root", part.root);
  v("root_constant", part.root_constant);
  v("constant_var", part.constant_var);
  v("response_constant", part.response_constant);
  v("response", part.response);
  v("largest", part.largest);
  v("prior_var", part.prior_var);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, LinearRows> {
  v.part("features", part.features);
  v.part("head", part.head);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, KernelRows> {
  v.part("features", part.features);
  v("lengthscale", part.lengthscale);
  v("rows", part.rows);
  v("amplitude", part.amplitude);
  v("noise_var", part.noise_var);
  v("offset", part.offset);
  v("diagonal", part.diagonal);
  v("alpha", part.alpha);
  v("ones", part.ones);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, ViewSpec> {
  v("input_shift", part.input_shift);
  v("input_scale", part.input_scale);
  v.choice("warp", part.warp, {"none", "log"});
  v("low", part.low);
  v("unit", part.unit);
  v("log_mean", part.log_mean);
  v("log_sd", part.log_sd);
  v("seen_low", part.seen_low);
  v("seen_high", part.seen_high);
  v("spare_sd", part.spare_sd);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, SpreadSpec> {
  v("of_folds", part.of_folds);
  v("factor", part.factor);
  v("dof", part.dof);
  v("wild_share", part.wild_share);
  v("wild_factor", part.wild_factor);
  v("centre", part.centre);
  v("spread", part.spread);
  v("weights", part.weights);
  v("low", part.low);
  v("high", part.high);
  v("seen_epistemic", part.seen_epistemic);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, CandidateRows> {
  v.parts("members", part.members);
  v.part("view", part.view);
  v.part("spread", part.spread);
  v("weight", part.weight);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, MixtureRows> {
  v("inputs", part.inputs);
  v.parts("candidates", part.candidates);
  v("wrong_share", part.wrong_share);
  v("wrong_dof", part.wrong_dof);
  v("wrong_factor", part.wrong_factor);
}

template <class Part, class Visitor>
void fields(Part& part, Visitor& v) requires std::is_same_v<std::remove_const_t<Part>, RowSpec> {
  v.alternative(part.of, {"linear", "kernel", "mixture"});
}

/// The arrays of a file by their size, to find one that is there already.
class Arrays {
 public:
  explicit Arrays(TensorFile& file) : file_(file) {
    for (const auto& [name, tensor] : file.tensors) by_size_.emplace(tensor.bytes.size(), name);
  }

  template <class Number>
  std::string name_of(const std::vector<Number>& values) {
    constexpr StoredType type = std::is_same_v<Number, float> ? StoredType::f32 : StoredType::f64;
    const size_t bytes = values.size() * sizeof(Number);
    const auto [first, last] = by_size_.equal_range(bytes);
    for (auto at = first; at != last; ++at) {
      const StoredTensor& there = file_.tensors.at(at->second);
      if (there.type == type && std::memcmp(there.bytes.data(), values.data(), bytes) == 0) return at->second;
    }
    std::string name;
    do name = fmt::format("{}{}", kRowsPrefix, next_++);
    while (file_.tensors.contains(name));
    StoredTensor& own = file_.tensors[name];
    own = {type, {std::ssize(values)}, std::vector<std::byte>(bytes)};
    std::memcpy(own.bytes.data(), values.data(), bytes);
    by_size_.emplace(bytes, name);
    return name;
  }

 private:
  TensorFile& file_;
  std::multimap<size_t, std::string> by_size_;
  int64_t next_ = 0;
};

class Writer {
 public:
  explicit Writer(Arrays& arrays) : arrays_(arrays) {}

  json take() { return std::move(node_); }

  void operator()(const char* name, const std::string& text) { node_[name] = text; }
  void operator()(const char* name, int64_t number) { node_[name] = number; }
  void operator()(const char* name, bool flag) { node_[name] = flag; }
  void operator()(const char* name, double number) {
    internal_check(!std::isnan(number), "store_rows", "a number is NaN", name);
    if (std::isfinite(number))
      node_[name] = number;
    else
      node_[name] = number > 0 ? "inf" : "-inf";  // JSON has no such number
  }
  void operator()(const char* name, const std::optional<double>& number) {
    if (number) (*this)(name, *number);
  }
  void operator()(const char* name, const std::vector<double>& values) {
    if (!values.empty()) node_[name] = arrays_.name_of(values);
  }
  void operator()(const char* name, const std::map<std::string, std::vector<float>>& values) {
    json& all = node_[name] = json::object();
    for (const auto& [key, own] : values) all[key] = arrays_.name_of(own);
  }
  void network(const char* name, const std::optional<NetworkSpec>& network) {
    if (network) node_[name] = to_json(*network);
  }
  template <class Choice>
  void choice(const char* name, Choice value, std::initializer_list<const char*> words) {
    node_[name] = words.begin()[static_cast<size_t>(value)];
  }
  template <class Part>
  void part(const char* name, const Part& part) {
    node_[name] = written(part);
  }
  template <class Part>
  void parts(const char* name, const std::vector<Part>& parts) {
    json& all = node_[name] = json::array();
    for (const Part& part : parts) all.push_back(written(part));
  }
  template <class Variant>
  void alternative(const Variant& of, std::initializer_list<const char*> words) {
    node_["kind"] = words.begin()[of.index()];
    std::visit([this](const auto& part) { this->part("rows", part); }, of);
  }

 private:
  template <class Part>
  json written(const Part& part) {
    Writer own(arrays_);
    fields(part, own);
    return own.take();
  }

  Arrays& arrays_;
  json node_ = json::object();
};

/// Looks for numbers that no file may hold.
class Soundness {
 public:
  bool sound() const { return sound_; }

  void operator()(const char*, const std::string&) {}
  void operator()(const char*, int64_t) {}
  void operator()(const char*, bool) {}
  void operator()(const char*, double number) { sound_ = sound_ && !std::isnan(number); }
  void operator()(const char* name, const std::optional<double>& number) {
    if (number) (*this)(name, *number);
  }
  void operator()(const char*, const std::vector<double>& values) { all_finite(values); }
  void operator()(const char*, const std::map<std::string, std::vector<float>>& values) {
    for (const auto& [key, own] : values) all_finite(own);
  }
  void network(const char*, const std::optional<NetworkSpec>&) {}
  template <class Choice>
  void choice(const char*, Choice, std::initializer_list<const char*>) {}
  template <class Part>
  void part(const char*, const Part& part) {
    fields(part, *this);
  }
  template <class Part>
  void parts(const char*, const std::vector<Part>& parts) {
    for (const Part& part : parts) fields(part, *this);
  }
  template <class Variant>
  void alternative(const Variant& of, std::initializer_list<const char*>) {
    std::visit([this](const auto& part) { fields(part, *this); }, of);
  }

 private:
  template <class Number>
  void all_finite(const std::vector<Number>& values) {
    sound_ = sound_ && std::ranges::all_of(values, [](Number one) { return std::isfinite(one); });
  }
  bool sound_ = true;
};

/// What a file may give. Several parts may share an array, such as the weights of one network, but a small
/// hostile file could name its arrays so often that they fill the memory.
class Source {
 public:
  explicit Source(const TensorFile& file) : file_(file), left_(size_t{1} << 20) {
    for (const auto& [name, tensor] : file.tensors) left_ += 16 * tensor.bytes.size();
  }

  template <class Number>
  std::vector<Number> array(const std::string& name) {
    constexpr StoredType type = std::is_same_v<Number, float> ? StoredType::f32 : StoredType::f64;
    const auto found = file_.tensors.find(name);
    const bool there = found != file_.tensors.end() && found->second.type == type;
    check(there, kFunction, "the arrays of the rows", "a file without one of them", kDamaged);
    const std::vector<std::byte>& bytes = found->second.bytes;
    check(bytes.size() <= left_, kFunction, "at most 16 uses of an array", "more", kDamaged);
    left_ -= bytes.size();
    std::vector<Number> values(bytes.size() / sizeof(Number));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
    check(std::ranges::all_of(values, [](Number one) { return std::isfinite(one); }), kFunction,
          "finite numbers", "NaN or infinity", kDamaged);
    return values;
  }

 private:
  const TensorFile& file_;
  size_t left_;  // bytes
};

class Reader {
 public:
  Reader(const json& node, Source& source) : node_(node), source_(source) {}

  void operator()(const char* name, std::string& text) { text = node_.at(name).get<std::string>(); }
  void operator()(const char* name, bool& flag) { flag = node_.at(name).get<bool>(); }
  void operator()(const char* name, int64_t& number) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const json& given = node_.at(name);
    number = given.is_number_integer() ? given.get<int64_t>() : -1;
    check(number >= 0 && number <= kMost, kFunction, "a number from 0 to 2^31", "another value", kDamaged);
  }
  void operator()(const char* name, double& number) {
    const json& given = node_.at(name);
    const double inf = std::numeric_limits<double>::infinity();
    number = given == "inf" ? inf : given == "-inf" ? -inf : given.get<double>();
  }
  void operator()(const char* name, std::optional<double>& number) {
    if (node_.contains(name)) (*this)(name, number.emplace());
  }
  void operator()(const char* name, std::vector<double>& values) {
    if (node_.contains(name)) values = source_.array<double>(node_.at(name).get<std::string>());
  }
  void operator()(const char* name, std::map<std::string, std::vector<float>>& values) {
    for (const auto& [key, of] : node_.at(name).items())
      values[key] = source_.array<float>(of.get<std::string>());
  }
  void network(const char* name, std::optional<NetworkSpec>& network) {
    if (node_.contains(name)) network = network_from_json(node_.at(name));
  }
  template <class Choice>
  void choice(const char* name, Choice& value, std::initializer_list<const char*> words) {
    value = static_cast<Choice>(index_of(name, words));
  }
  template <class Part>
  void part(const char* name, Part& part) {
    Reader own(node_.at(name), source_);
    fields(part, own);
  }
  template <class Part>
  void parts(const char* name, std::vector<Part>& parts) {
    for (const json& each : node_.at(name)) {
      Reader own(each, source_);
      fields(parts.emplace_back(), own);
    }
  }
  template <class... Parts>
  void alternative(std::variant<Parts...>& of, std::initializer_list<const char*> words) {
    const size_t index = index_of("kind", words);
    size_t i = 0;
    ((i++ == index ? part("rows", of.template emplace<Parts>()) : void()), ...);
  }

 private:
  size_t index_of(const char* name, std::initializer_list<const char*> words) {
    const auto given = node_.at(name).get<std::string>();
    const auto found = std::ranges::find(words, given);
    check(found != words.end(), kFunction, "a name that slimbayes writes", "another", kDamaged);
    return static_cast<size_t>(found - words.begin());
  }

  const json& node_;
  Source& source_;
};

}  // namespace

bool storable(const RowSpec& spec) {
  Soundness found;
  fields(spec, found);
  return found.sound();
}

json store_rows(const RowSpec& spec, TensorFile& file) {
  Arrays arrays(file);
  Writer writer(arrays);
  fields(spec, writer);
  return writer.take();
}

RowSpec stored_rows(const json& json, const TensorFile& file) {
  RowSpec spec;
  Source source(file);
  Reader reader(json, source);
  fields(spec, reader);
  return spec;
}

}  // namespace slimbayes::engine

#include "slimbayes/engine/spec/row_spec_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "slimbayes/engine/spec/spec_fields.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::engine {

namespace {

using nlohmann::json;

constexpr const char* kFunction = "stored_rows";
constexpr const char* kDamaged = "the model file is damaged";

template <class Number>
constexpr StoredType stored_type() {
  if constexpr (std::is_same_v<Number, float>) return StoredType::f32;
  if constexpr (std::is_same_v<Number, int32_t>) return StoredType::i32;
  if constexpr (std::is_same_v<Number, int64_t>) return StoredType::i64;
  return StoredType::f64;
}

/// The arrays of a file by their size, to find one that is there already.
class Arrays {
 public:
  explicit Arrays(TensorFile& file) : file_(file) {
    for (const auto& [name, tensor] : file.tensors) by_size_.emplace(tensor.bytes.size(), name);
  }

  template <class Number>
  std::string name_of(const std::vector<Number>& values) {
    constexpr StoredType type = stored_type<Number>();
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
  void operator()(const char* name, uint64_t number) { node_[name] = number; }
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
  template <class Number>
  void operator()(const char* name, const std::vector<Number>& values) {
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
  template <class Variant, class Words>
  void alternative(const Variant& of, const Words& words) {
    node_["kind"] = words[of.index()];
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

/// Goes through all parts of a model for a visitor that only looks at values.
template <class Visitor>
class Walk {
 public:
  template <class Choice>
  void choice(const char*, Choice, std::initializer_list<const char*>) {}
  template <class Part>
  void part(const char*, const Part& part) {
    fields(part, own());
  }
  template <class Part>
  void parts(const char*, const std::vector<Part>& parts) {
    for (const Part& part : parts) fields(part, own());
  }
  template <class Variant, class Words>
  void alternative(const Variant& of, const Words&) {
    std::visit([this](const auto& part) { fields(part, own()); }, of);
  }

 private:
  Visitor& own() { return static_cast<Visitor&>(*this); }
};

/// Looks for numbers that no file may hold.
class Soundness : public Walk<Soundness> {
 public:
  bool sound() const { return sound_; }

  void operator()(const char*, const std::string&) {}
  void operator()(const char*, int64_t) {}
  void operator()(const char*, uint64_t) {}
  void operator()(const char*, bool) {}
  void operator()(const char*, double number) { sound_ = sound_ && !std::isnan(number); }
  void operator()(const char* name, const std::optional<double>& number) {
    if (number) (*this)(name, *number);
  }
  template <class Number>
  void operator()(const char*, const std::vector<Number>& values) {
    if constexpr (std::is_floating_point_v<Number>) all_finite(values);
  }
  void operator()(const char*, const std::map<std::string, std::vector<float>>& values) {
    for (const auto& [key, own] : values) all_finite(own);
  }
  void network(const char*, const std::optional<NetworkSpec>&) {}

 private:
  template <class Number>
  void all_finite(const std::vector<Number>& values) {
    sound_ = sound_ && std::ranges::all_of(values, [](Number one) { return std::isfinite(one); });
  }
  bool sound_ = true;
};

/// Collects the networks.
class Networks : public Walk<Networks> {
 public:
  std::vector<const NetworkSpec*> all;

  template <class Value>
  void operator()(const char*, const Value&) {}
  void network(const char*, const std::optional<NetworkSpec>& network) {
    if (network) all.push_back(&*network);
  }
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
    constexpr StoredType type = stored_type<Number>();
    const auto found = file_.tensors.find(name);
    const bool there = found != file_.tensors.end() && found->second.type == type;
    check(there, kFunction, "the arrays of the rows", "a file without one of them", kDamaged);
    const std::vector<std::byte>& bytes = found->second.bytes;
    check(bytes.size() <= left_, kFunction, "at most 16 uses of an array", "more", kDamaged);
    left_ -= bytes.size();
    std::vector<Number> values(bytes.size() / sizeof(Number));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
    if constexpr (std::is_floating_point_v<Number>)
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
  /// `depth`: of the parts around this one. A hostile file could nest them until the stack is full.
  Reader(const json& node, Source& source, int depth = 0) : node_(node), source_(source), depth_(depth) {
    constexpr int kDeepest = 32;
    check(depth <= kDeepest, kFunction, "at most 32 parts within each other", "more", kDamaged);
  }

  void operator()(const char* name, std::string& text) { text = node_.at(name).get<std::string>(); }
  void operator()(const char* name, bool& flag) { flag = node_.at(name).get<bool>(); }
  void operator()(const char* name, int64_t& number) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const json& given = node_.at(name);
    number = given.is_number_integer() ? given.get<int64_t>() : -1;
    check(number >= 0 && number <= kMost, kFunction, "a number from 0 to 2^31", "another value", kDamaged);
  }
  void operator()(const char* name, uint64_t& number) {
    const json& given = node_.at(name);
    check(given.is_number_unsigned(), kFunction, "a whole number of at least 0", "another value", kDamaged);
    number = given.get<uint64_t>();
  }
  void operator()(const char* name, double& number) {
    const json& given = node_.at(name);
    const double inf = std::numeric_limits<double>::infinity();
    number = given == "inf" ? inf : given == "-inf" ? -inf : given.get<double>();
  }
  void operator()(const char* name, std::optional<double>& number) {
    if (node_.contains(name)) (*this)(name, number.emplace());
  }
  template <class Number>
  void operator()(const char* name, std::vector<Number>& values) {
    if (node_.contains(name)) values = source_.array<Number>(node_.at(name).get<std::string>());
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
    Reader own(node_.at(name), source_, depth_ + 1);
    fields(part, own);
  }
  template <class Part>
  void parts(const char* name, std::vector<Part>& parts) {
    for (const json& each : node_.at(name)) {
      Reader own(each, source_, depth_ + 1);
      fields(parts.emplace_back(), own);
    }
  }
  template <class... Parts, class Words>
  void alternative(std::variant<Parts...>& of, const Words& words) {
    const size_t index = index_of("kind", words);
    size_t i = 0;
    ((i++ == index ? part("rows", of.template emplace<Parts>()) : void()), ...);
  }

 private:
  template <class Words>
  size_t index_of(const char* name, const Words& words) {
    const auto given = node_.at(name).get<std::string>();
    const auto found = std::ranges::find(words, given);
    check(found != words.end(), kFunction, "a name that slimbayes writes", "another", kDamaged);
    return static_cast<size_t>(found - std::ranges::begin(words));
  }

  const json& node_;
  Source& source_;
  int depth_;
};

}  // namespace

bool storable(const AnswerSpec& spec) {
  Soundness found;
  std::visit([&](const auto& one) { fields(one, found); }, spec);
  return found.sound();
}

json store_rows(const AnswerSpec& spec, TensorFile& file) {
  Arrays arrays(file);
  Writer writer(arrays);
  std::visit([&](const auto& one) { fields(one, writer); }, spec);
  json node = writer.take();
  if (std::holds_alternative<RateSpec>(spec)) node["kind"] = kRateKind;
  return node;
}

std::vector<const NetworkSpec*> networks_in(const AnswerSpec& spec) {
  Networks networks;
  std::visit([&](const auto& of) { fields(of, networks); }, spec);
  return std::move(networks.all);
}

AnswerSpec stored_rows(const json& json, const TensorFile& file) {
  const auto kind = json.at("kind").get<std::string>();
  AnswerSpec spec;
  if (kind == kRateKind) spec = RateSpec();
  if (std::ranges::find(kClassKinds, kind) != kClassKinds.end()) spec = ClassSpec();
  Source source(file);
  Reader reader(json, source);
  std::visit([&](auto& one) { fields(one, reader); }, spec);
  return spec;
}

}  // namespace slimbayes::engine

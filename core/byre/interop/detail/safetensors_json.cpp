// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/safetensors_format.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace byre::inline BYRE_ABI::detail {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> entry_keys{"dtype", "shape", "data_offsets"};

/// The kind of the next value.
enum class Value : std::uint8_t {
  file,
  entry,
  metadata,
  note,
  dtype,
  shape,
  size,
  offsets,
  offset
};

constexpr std::array<const char*, 9> wanted_values{"an object",
                                                   "an object of dtype, shape and data_offsets",
                                                   "an object of strings",
                                                   "a string",
                                                   "a string",
                                                   "an array of sizes",
                                                   "a whole number below 2^63",
                                                   "an array of two offsets",
                                                   "a whole number below 2^64"};

/// Receives the values that the parser finds, from left to right. Rejects an unexpected value at
/// once, so that nothing nests deeper than an array in an entry.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const char* source) noexcept : source_(source) {}

  SafetensorsJson take() { return std::move(found_); }

  // The SAX interface of nlohmann::json: each function returns whether to continue.
  bool null() {
    if (value_ != Value::metadata) {
      refuse_value("null");
    }
    return true;  // null counts as no metadata
  }
  bool boolean(bool /*value*/) { refuse_value("a boolean"); }
  bool number_integer(std::int64_t /*number*/) { refuse_value("a number with a minus sign"); }
  bool number_unsigned(std::uint64_t number) {
    if (value_ == Value::size &&
        number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      Dims& sizes = found_.tensors.back().sizes;
      if (sizes.size() == max_ndim) {
        refuse(format_text("has more than %zu dimensions", max_ndim));
      }
      sizes.push_back(static_cast<std::int64_t>(number));
    } else if (value_ == Value::offset) {
      if (offsets_ == 2) {
        refuse(format_text("has more than two data_offsets"));
      }
      found_.tensors.back().offsets[offsets_++] = number;
    } else {
      refuse_value(("the number " + std::to_string(number)).c_str());
    }
    return true;
  }
  bool number_float(double /*number*/, const std::string& text) {
    refuse_value(("the number " + printable(text)).c_str());
  }
  bool string(std::string& text) {
    if (value_ == Value::note) {
      found_.metadata.back().second = std::move(text);
    } else if (value_ == Value::dtype) {
      found_.tensors.back().dtype = std::move(text);
    } else {
      refuse_value("a string");
    }
    return true;
  }
  bool binary(Json::binary_t& /*bytes*/) { refuse_value("bytes"); }
  bool start_object(std::size_t /*unknown*/) {
    if (value_ != Value::file && value_ != Value::entry && value_ != Value::metadata) {
      refuse_value("an object");
    }
    object_ = value_;
    return true;
  }
  bool key(std::string& key) {
    if (object_ == Value::file) {
      begin(key);
    } else if (object_ == Value::metadata) {
      found_.metadata.emplace_back(std::move(key), "");
      value_ = Value::note;
    } else {
      begin_member(key);
    }
    return true;
  }
  bool end_object() {
    if (object_ == Value::entry) {
      if (const auto missing = std::ranges::find(is_read_, false); missing != is_read_.end()) {
        const auto number = static_cast<std::size_t>(missing - is_read_.begin());
        refuse(format_text("lacks the key '%s'", entry_keys[number].data()));
      }
    } else if (object_ == Value::metadata) {
      if (const auto repeated = find_duplicate(keys_of(found_.metadata))) {
        refuse(format_text("has the key '%s' twice", printable(*repeated).c_str()));
      }
    } else if (const auto repeated = find_duplicate({names_.begin(), names_.end()})) {
      names_ = {std::string(*repeated)};
      refuse(format_text("occurs twice"));
    }
    object_ = Value::file;
    return true;
  }
  bool start_array(std::size_t /*unknown*/) {
    if (value_ != Value::shape && value_ != Value::offsets) {
      refuse_value("an array");
    }
    value_ = value_ == Value::shape ? Value::size : Value::offset;
    return true;
  }
  bool end_array() {
    if (value_ == Value::offset && offsets_ < 2) {
      refuse(format_text("has fewer than two data_offsets"));
    }
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& error) {
    std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    what.remove_prefix(what.find(' ') + 1);
    refuse_safetensors(source_,
                       format_text("its header is not JSON: %s", printable(what, 200).c_str()),
                       "Was it damaged? Save it again.");
  }

 private:
  void begin(std::string& name) {
    names_.push_back(name);
    if (name == metadata_key) {
      value_ = Value::metadata;
    } else {
      value_ = Value::entry;
      is_read_ = {};
      offsets_ = 0;
      found_.tensors.emplace_back().name = std::move(name);
    }
  }
  void begin_member(const std::string& key) {
    constexpr std::array values{Value::dtype, Value::shape, Value::offsets};
    const auto number =
        static_cast<std::size_t>(std::ranges::find(entry_keys, key) - entry_keys.begin());
    if (number == entry_keys.size() || is_read_[number]) {
      refuse(format_text("has the unknown or repeated key '%s'", printable(key).c_str()));
    }
    is_read_[number] = true;
    value_ = values[number];
  }

  /// Rejects the value `found`, because another kind is expected.
  [[noreturn]] void refuse_value(const char* found) const {
    refuse(
        format_text("has %s, expected %s", found, wanted_values[static_cast<std::size_t>(value_)]));
  }
  /// Rejects the current entry.
  [[noreturn]] void refuse(const Text& found) const {
    refuse_safetensors(
        source_,
        format_text("its entry \"%s\" %.300s", printable(names_.back()).c_str(),
                    found.chars.data()),
        "An entry is \"name\": {\"dtype\": \"F32\", \"shape\": [2, 3], \"data_offsets\": [0, 24]}, "
        "each key once, or \"__metadata__\": {\"key\": \"value\"}.");
  }

  const char* source_;
  SafetensorsJson found_;
  std::vector<std::string> names_;  // the keys of the file's top-level object
  Value object_ = Value::file;      // the object whose key is next
  Value value_ = Value::file;
  std::array<bool, entry_keys.size()> is_read_{};
  std::size_t offsets_ = 0;
};

}  // namespace

SafetensorsJson read_safetensors_json(std::string_view text, const char* source) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (!text.starts_with('{')) {
    refuse_safetensors(source, format_text("its header does not begin with '{'"),
                       "Is it a .safetensors file?");
  }
  if (text.find('\0') != text.npos) {  // the parser would stop there
    refuse_safetensors(source, format_text("its header contains a zero byte"),
                       "Write JSON, padded with spaces.");
  }
  SafetensorsReader reader(source);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return reader.take();
}

std::optional<std::string> json_string(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    return std::nullopt;
  }
}

}  // namespace byre::inline BYRE_ABI::detail

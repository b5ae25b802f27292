// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/safetensors_format.hpp>
#include <byre/memory/allocator.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace byre::inline BYRE_ABI::detail {
namespace {

[[noreturn]] void refuse_name(std::string_view name, const char* found, const char* advice) {
  throw InvalidArgument(format_text("save_safetensors: the name or key \"%s\" %s. %s",
                                    printable(name).c_str(), found, advice));
}

void expect_unique(std::vector<std::string_view> names) {
  if (const auto repeated = find_duplicate(std::move(names))) {
    refuse_name(*repeated, "occurs twice", "Make it unique.");
  }
}

std::string utf8_in_quotes(std::string_view name) {
  std::optional<std::string> text = json_string(std::string(name));
  if (!text) {
    refuse_name(name, "is not UTF-8", "Encode it as UTF-8.");
  }
  return *std::move(text);
}

std::ptrdiff_t rank_of(DType dtype) {
  return std::ranges::find(safetensors_types, dtype, &SafetensorsType::dtype) -
         safetensors_types.begin();
}

/// `"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}`
std::string entry_of(const SafetensorsPart& part, std::size_t offset) {
  const std::string_view code =
      safetensors_types[static_cast<std::size_t>(rank_of(part.dtype))].code;
  std::string text =
      utf8_in_quotes(part.name) + ":{\"dtype\":\"" + std::string(code) + "\",\"shape\":[";
  for (const std::int64_t size : part.sizes) {
    text += (text.back() == '[' ? "" : ",") + std::to_string(size);
  }
  return text + "],\"data_offsets\":[" + std::to_string(offset) + "," +
         std::to_string(offset + part.nbytes) + "]}";
}

std::string json_object_of(std::span<const std::pair<std::string, std::string>> metadata) {
  std::string text = "{";
  for (const auto& [key, value] : metadata) {
    text += (text.size() == 1 ? "" : ",") + utf8_in_quotes(key) + ":" + utf8_in_quotes(value);
  }
  return text + "}";
}

/// Pads the text, and prepends its length.
std::string with_length(std::string text, std::size_t limit_nbytes) {
  text.append(padding_after(safetensors_length_nbytes + text.size()), ' ');
  if (text.size() > limit_nbytes) {
    throw InvalidArgument(format_text(
        "save_safetensors: the header needs %zu bytes, allowed are %zu. Save fewer tensors "
        "or less metadata per file.",
        text.size(), limit_nbytes));
  }
  return little_endian(text.size(), safetensors_length_nbytes) + text;
}

}  // namespace

std::vector<std::size_t> writing_order(std::span<const SafetensorsPart> parts) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t number) {
    return std::tuple(-rank_of(parts[number].dtype), parts[number].name);
  });
  return order;
}

std::string safetensors_header(std::span<const SafetensorsPart> parts,
                               std::span<const std::pair<std::string, std::string>> metadata,
                               std::size_t limit_nbytes) {
  expect_unique(keys_of(metadata));
  std::vector<std::string_view> names;
  std::string text = "{";
  if (!metadata.empty()) {
    text += utf8_in_quotes(metadata_key) + ":" + json_object_of(metadata);
  }
  std::size_t offset = 0;
  for (const SafetensorsPart& part : parts) {
    if (part.name == metadata_key) {
      refuse_name(part.name, "is reserved for metadata", "Rename the tensor.");
    }
    if (part.nbytes > max_nbytes - offset) {
      throw InvalidArgument(format_text(
          "save_safetensors: the tensors up to \"%s\" exceed the largest file. Save fewer "
          "tensors per file.",
          printable(part.name).c_str()));
    }
    names.push_back(part.name);
    text += (text.size() == 1 ? "" : ",") + entry_of(part, offset);
    offset += part.nbytes;
  }
  expect_unique(std::move(names));
  return with_length(text + "}", limit_nbytes);
}

}  // namespace byre::inline BYRE_ABI::detail

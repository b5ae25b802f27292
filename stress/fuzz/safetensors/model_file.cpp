// SPDX-License-Identifier: BSL-1.0
#include "model_file.hpp"

#include <byre/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace byre::fuzz {
namespace {

struct Type {
  DType dtype;
  const char* name;
};

constexpr std::array types{
    Type{DType::boolean, "BOOL"}, Type{DType::u8, "U8"},        Type{DType::i8, "I8"},
    Type{DType::i16, "I16"},      Type{DType::i32, "I32"},      Type{DType::i64, "I64"},
    Type{DType::f16, "F16"},      Type{DType::bf16, "BF16"},    Type{DType::f32, "F32"},
    Type{DType::f64, "F64"},      Type{DType::complex64, "C64"}};

/// The elements as a file stores them.
std::string stored(const Tensor& tensor) {
  if (tensor.nbytes() == 0) {
    return {};
  }
  std::string data(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
  if (std::endian::native != std::endian::little) {
    const std::size_t size = tensor.dtype() == DType::complex64 ? 4 : tensor.itemsize();
    for (std::size_t at = 0; at < data.size(); at += size) {
      std::reverse(&data[at], &data[at] + size);
    }
  }
  return data;
}

std::string changed(const std::string& number, std::int64_t by) {
  return std::to_string(std::stoll(number) + by);
}

}  // namespace

ModelFile::ModelFile(Choices& input) {
  for (std::size_t left = input.below(5); left != 0; --left) {
    add_tensor(input);
  }
  for (std::size_t left = input.below(3); left != 0; --left) {
    metadata_.emplace_back("key" + std::to_string(left), std::string(input.below(8), 'v'));
  }
  first_in_header_ = input.below(5);
  spaces_.assign(input.below(16), ' ');
}

void ModelFile::add_tensor(Choices& input) {
  const Type& type = types[input.below(types.size())];
  Dims sizes(input.below(4));
  Entry entry;
  entry.name = "t" + std::to_string(tensors_.size());
  entry.dtype = type.name;
  for (std::int64_t& size : sizes) {
    size = static_cast<std::int64_t>(input.below(4));
    entry.shape += (entry.shape.empty() ? "" : ",") + std::to_string(size);
  }
  Tensor tensor = Tensor::zeros(sizes, type.dtype);
  if (tensor.nbytes() != 0) {
    auto* const bytes = static_cast<std::uint8_t*>(tensor.mutable_raw_data());
    for (std::size_t at = 0; at < tensor.nbytes(); ++at) {
      bytes[at] = type.dtype == DType::boolean ? input.byte() % 2 : input.byte();
    }
  }
  entry.begin = std::to_string(data_.size());
  data_ += stored(tensor);
  entry.end = std::to_string(data_.size());
  tensors_.emplace_back(entry.name, std::move(tensor));
  entries_.push_back(std::move(entry));
}

std::string ModelFile::text_of(const Entry& entry) const {
  return "\"" + entry.name + "\":{\"dtype\":\"" + entry.dtype + "\",\"shape\":[" + entry.shape +
         "],\"data_offsets\":[" + entry.begin + "," + entry.end + "]" + entry.more + "}";
}

std::string ModelFile::header() const {
  std::string text = in_front_ + "{";
  const auto add = [&](const std::string& part) {
    text += (text.ends_with('{') ? "" : ",") + part;
  };
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    add(text_of(entries_[(at + first_in_header_) % entries_.size()]));
  }
  if (!metadata_.empty()) {
    std::string notes;
    for (const auto& [key, value] : metadata_) {
      notes += (notes.empty() ? "\"" : ",\"") + key + "\":\"" + value + "\"";
    }
    add("\"__metadata__\":{" + notes + "}");
  }
  if (!behind_.empty()) {
    add(behind_);
  }
  return text + "}" + spaces_;
}

std::string ModelFile::bytes() const {
  const std::string text = header();
  const std::uint64_t length = text.size() + length_more_;
  std::string bytes;
  for (unsigned at = 0; at < 8; ++at) {
    bytes += static_cast<char>(length >> 8 * at & 0xFF);
  }
  return bytes + text + data_;
}

const char* ModelFile::break_a_rule(bool of_an_entry, std::size_t rule,
                                    std::size_t number_of_entry) {
  if (!of_an_entry || entries_.empty()) {
    return break_the_file(rule);
  }
  const std::size_t number = number_of_entry % entries_.size();
  return rule % 2 == 0 || tensors_[number].second.nbytes() == 0
             ? break_an_entry(rule / 2, entries_[number])
             : break_an_entry_with_data(rule / 2, number);
}

const char* ModelFile::break_the_file(std::size_t rule) {
  switch (rule % 11) {
    case 0:
      length_more_ = data_.size() + 1;
      return "a header longer than the file";
    case 1:
      length_more_ = std::uint64_t{1} << (27 + rule / 11);
      return "a header of gigabytes";
    case 2:
      data_ += 'x';
      return "an extra byte after the data";
    case 3:
      in_front_ = "\v";
      return "a vertical tab before the header";
    case 4:
      spaces_ += std::string("\0x", 2);
      return "a zero byte after the header";
    case 5:
      spaces_ += "{}";
      return "two headers";
    case 6:
      behind_ = "\"__metadata__\":{\"a\":1}";
      return "a number in the metadata, or metadata twice";
    case 7:
      behind_ = "\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}";
      return "a key of the metadata twice, or metadata twice";
    case 8:
      behind_ = "\"__metadata__\":" + std::string(rule, '[');
      return "deep metadata";
    case 9:
      behind_ = "\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
      return "a name that is not UTF-8";
    default:
      behind_ = ",";
      return "an extra comma";
  }
}

const char* ModelFile::break_an_entry(std::size_t rule, Entry& entry) {
  constexpr std::array sizes{"-1", "1.0", "1e0", "\"1\"", "null", "[1]", "18446744073709551616",
                             ""};
  constexpr std::array keys{",\"dtype\":\"U8\"", ",\"shape\":[]", ",\"data_offsets\":[0,0]",
                            ",\"x\":0"};
  switch (rule % 8) {
    case 0:
      behind_ = text_of(entry);
      return "a duplicate entry";
    case 1:
      entry.shape +=
          (entry.shape.empty() ? "1," : ",") + std::string(sizes[rule / 8 % sizes.size()]);
      return "a size with an invalid number";
    case 2:
      entry.dtype += '\n';
      return "a dtype with a line feed";
    case 3:
      entry.more = keys[rule / 8 % keys.size()];
      return "an unknown or duplicate key";
    case 4:
      entry.end = changed(entry.end, 1);
      return "an end too far";
    case 5:
      entry.begin = std::to_string(~std::uint64_t{0} - rule);
      entry.end = std::to_string(~std::uint64_t{0});
      return "offsets whose sum overflows";
    case 6:
      entry.end += ",0";
      return "three offsets";
    default:
      entry.begin = "-" + entry.begin;
      return "an offset with a minus sign";
  }
}

const char* ModelFile::break_an_entry_with_data(std::size_t rule, std::size_t number) {
  Entry& entry = entries_[number];
  const std::int64_t by = rule % 14 < 7 ? 1 : -1;
  switch (rule % 7) {
    case 0:
      for (std::size_t at = number; at < entries_.size();
           ++at) {  // shift all later entries too, so that no other rule is broken
        entries_[at].begin = changed(entries_[at].begin, by);
        entries_[at].end = changed(entries_[at].end, by);
      }
      data_.resize(data_.size() + static_cast<std::size_t>(by));
      return by > 0 ? "a hole" : "an overlap";
    case 1:
      std::swap(entry.begin, entry.end);
      return "an end before the begin";
    case 2:
      entry.shape += entry.shape.empty() ? "2" : ",2";
      return "more elements than data";
    case 3:
      entry.shape += std::string(entry.shape.empty() ? "" : ",") + "4294967296,4294967296";
      return "sizes whose product overflows";
    case 4:
      behind_ = text_of({"alias", entry.shape, entry.dtype, entry.begin, entry.end, ""});
      return "an alias";
    case 5:
      data_.pop_back();
      return "a byte of the last tensor is missing";
    default:
      if (tensors_[number].second.dtype() != DType::boolean) {
        entry.dtype = "BOOL";
        entry.shape = std::to_string(tensors_[number].second.nbytes());
      }
      data_[static_cast<std::size_t>(std::stoll(entry.begin))] = '\2';
      return "a bool with the value 2";
  }
}

}  // namespace byre::fuzz

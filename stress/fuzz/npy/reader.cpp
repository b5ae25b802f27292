// SPDX-License-Identifier: BSL-1.0
#include "reader.hpp"

#include <bit>
#include <charconv>
#include <string>
#include <system_error>

namespace byre::fuzz {
namespace {

class Header {
 public:
  explicit Header(std::string_view file) : file_(file) {}

  std::size_t position() const noexcept { return at_; }

  void expect(std::string_view text) {
    if (file_.substr(at_, text.size()) != text) {
      refuse("'" + std::string(text) + "' was expected");
    }
    at_ += text.size();
  }

  std::uint8_t byte() {
    if (at_ == file_.size()) {
      refuse("the file ends");
    }
    return static_cast<std::uint8_t>(file_[at_++]);
  }

  /// Decimal, and as short as it can be.
  std::uint64_t number() {
    std::uint64_t value = 0;
    const char* const begin = file_.data() + at_;
    const auto [end, error] = std::from_chars(begin, file_.data() + file_.size(), value);
    if (error != std::errc() || (*begin == '0' && end != begin + 1)) {
      refuse("a number was expected");
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  void skip_spaces() {
    while (at_ < file_.size() && file_[at_] == ' ') {
      ++at_;
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw NotNpy("not a .npy table of floats: at byte " + std::to_string(at_) + ", " + why);
  }

 private:
  std::string_view file_;
  std::size_t at_ = 0;
};

std::uint64_t data_nbytes(const Table& table, const Header& header) {
  std::uint64_t count = 0;
  std::uint64_t nbytes = 0;
  if (__builtin_mul_overflow(table.rows, table.columns, &count) ||
      __builtin_mul_overflow(count, std::uint64_t{sizeof(float)}, &nbytes)) {
    header.refuse("a shape was expected that has less than 2^64 bytes");
  }
  return nbytes;
}

}  // namespace

Table read_npy(std::string_view file) {
  Header header(file);
  header.expect("\x93NUMPY");
  header.expect(std::string_view("\x01\x00", 2));
  const unsigned low = header.byte();
  const std::size_t length = low + 256U * header.byte();
  const std::size_t end = header.position() + length;
  if (end % 64 != 0) {
    header.refuse("the data would not start at a multiple of 64");
  }
  Table table;
  header.expect(std::endian::native == std::endian::little ? "{'descr': '<f4', "
                                                           : "{'descr': '>f4', ");
  header.expect("'fortran_order': False, 'shape': (");
  table.rows = header.number();
  header.expect(", ");
  table.columns = header.number();
  header.expect("), }");
  header.skip_spaces();
  header.expect("\n");
  if (header.position() != end) {
    header.refuse("the header ends, and it should at byte " + std::to_string(end));
  }
  table.data = file.substr(end);
  if (const std::uint64_t nbytes = data_nbytes(table, header); table.data.size() != nbytes) {
    header.refuse(std::to_string(nbytes) + " bytes of data were expected, and there are " +
                  std::to_string(table.data.size()));
  }
  return table;
}

}  // namespace byre::fuzz

// SPDX-License-Identifier: BSL-1.0
/// Two worlds, computed element by element without storages, generations or pointers: in one reshape
/// aliases, in the other it copies. What a program reads in each, and where the rule of the seed
/// "Copy-on-write motivation" says that it is to be told: a family accesses, and an element was written
/// by another since it did so last.
#pragma once

#include <byre/tensor/layout/layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "program.hpp"

namespace byre::test {

/// Why a family is told of a write. Only `differs` is a difference that the program computed. The rule
/// knows storages and lines, not values, elements or what is to come; so it also tells of these, which
/// are the exceptions from "a report is a difference". Each is found out of what is in the elements of
/// the two worlds. Where all is whole and unique there are only the first and `overwrites`.
enum class Reason : std::uint8_t {
  /// A read that the program keeps has another value.
  differs,
  /// An operand has another value, which went into another tensor: whether that is ever read, nobody
  /// knows yet.
  carried,
  /// A write over all that the family was not told of: it never sees that, but from now on each has its
  /// own contents where reshape copies.
  overwrites,
  /// A write beside elements that have another value: whether they are ever read, nobody knows yet.
  missed,
  /// What was written is what had been there: generations count writes, and compare no values.
  equal_values,
  /// Other elements were written than are read: generations are of storages, not of elements.
  other_elements,
  /// None of these: always wrong.
  inexplicable,
};
inline constexpr std::size_t reasons = 7;
const char* to_string(Reason reason) noexcept;

struct Report {
  std::uint32_t write_line;
  std::uint32_t access_line;
  Reason reason;
};

/// For one thread.
class Worlds {
 public:
  struct Cell {
    std::int64_t value = 0;
    int written = 0;  ///< when
  };
  using Cells = std::vector<Cell>;
  /// Where reshape aliases.
  struct Memory {
    Cells cells;
    std::size_t capacity = 0;  ///< in elements, with those in reserve
    std::uint32_t last_write_line = 0;
  };
  struct Family {
    std::shared_ptr<Memory> memory;
    Cells copy;    ///< where reshape copies: of this family alone
    int told = 0;  ///< when it accessed last: of what was written until then it knows
  };
  struct Tensor {
    Layout layout;
    std::shared_ptr<Family> family;
    std::vector<std::size_t> places;  ///< of its elements, in row-major order
  };

  /// Does as the statement says in both worlds; false, and nothing changed, if that is not possible,
  /// or not in both of them: what overlaps in part is refused only where there is an alias.
  bool run(const Statement& statement, std::uint32_t line);

  const std::map<std::size_t, Tensor>& tensors() const { return tensors_; }
  const Reads& reads_of_aliases() const { return reads_[0]; }
  const Reads& reads_of_copies() const { return reads_[1]; }
  const std::vector<Report>& reports() const { return reports_; }

 private:
  enum class Kind : std::uint8_t { observed, carried, write };
  using Places = std::vector<std::size_t>;
  /// One for each world: where reshape aliases, and where it copies.
  using Values = std::array<std::vector<std::int64_t>, 2>;
  using NewValue =
      std::function<std::int64_t(std::int64_t old, std::size_t index, std::size_t world)>;

  bool make_tensor(const Statement& statement);
  bool change_tensor(const Statement& statement);
  bool change_memory(const Statement& statement);
  bool read(const Statement& statement);
  bool resize(Tensor& self, const Dims& sizes) const;
  bool reserve(Tensor& self, const Dims& sizes);
  Tensor reshape(const Tensor& self, const Dims& sizes);
  void add(Tensor& self, const Tensor& other);
  void copy(Tensor& self, const Tensor& source);

  Tensor new_tensor(const Layout& layout, const Values& values, std::size_t capacity = 0);
  Tensor clone(const Tensor& of);
  static Values values_of(const Family& family, const Places& places);
  void access(Family& family, const Places& places, Kind kind);
  Reason reason_of(const Family& family, const Places& places, Kind kind) const;
  void write(Tensor& tensor, const Places& places, const NewValue& value);

  std::map<std::size_t, Tensor> tensors_;
  std::array<Reads, 2> reads_;
  std::vector<Report> reports_;
  std::uint32_t line_ = 0;
  int now_ = 0;
};

/// The layout that an operation that only makes a view gives; throws as the operation.
Layout layout_of_view(const Layout& layout, const Statement& statement);
std::vector<std::size_t> places_of(const Layout& layout);

}  // namespace byre::test

// SPDX-License-Identifier: BSL-1.0
/// Two worlds, computed element by element without storages, generations or pointers: in one reshape
/// aliases, in the other it copies. What a program reads in each, and where the rule of the seed
/// "Copy-on-write motivation" says that it is to be told: a family accesses, and an element was written
/// by another since it did so last.
#pragma once

#include <byre/tensor/dtype.hpp>
#include <byre/tensor/layout.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "element.hpp"
#include "origin.hpp"
#include "program.hpp"
#include "told.hpp"

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
  /// A read after the family wrote over all that another had written, in parts or through a pointer:
  /// nobody adds those up.
  in_parts,
  /// An access after a pointer that was kept wrote over what another had written: nobody sees that.
  unseen,
  /// None of these: always wrong.
  inexplicable,
};
inline constexpr std::size_t reasons = 9;
const char* to_string(Reason reason) noexcept;

/// For one thread.
class Worlds {
 public:
  /// Half an i64, an i32, or a bool.
  struct Cell {
    std::int32_t value = 0;
    int written = 0;  ///< when
    Account
        account{};  ///< of a family's copy: for its value, if where reshape aliases it has another
  };
  using Cells = std::vector<Cell>;
  struct Write {
    std::uint32_t line = 0;
    const Origin* by = nullptr;
    bool is_unseen = false;  ///< through a pointer that was kept, and left by that line

    friend auto operator<=>(const Write&, const Write&) = default;
  };
  struct Family;
  /// Where reshape aliases.
  struct Memory {
    Cells cells{};
    std::size_t capacity = 0;  ///< in cells, with those in reserve
    bool has_storage = true;   ///< not where there are no elements, after all memory was freed
    int data = 0;              ///< the same for lazy clones of which none was written since
    Family* begun_with = nullptr;
    bool is_watched = false;
    std::set<Write> unaudited{};    ///< through pointers: once for each line and what came to it
    std::map<Write, int> writes{};  ///< when each was last; none that is unseen
    int lazy_clones = 0;  ///< made of it, or moved: pointers to write from before are void
  };
  /// Of what a family may be told.
  struct Unknown {
    Write write{};
    int when = 0;
    bool is_listed = false;
    bool is_error = false;

    /// Of several the last that is not silenced and is thrown for is told, and so on.
    auto rank() const { return std::tuple(!is_listed, is_error, when); }
  };
  /// What is known to be meant to share memory, and what the advice is by that. By lines, as people are
  /// told; one line may write for several reshapes.
  struct Shared {
    std::set<std::array<std::uint32_t, 3>> open{};  ///< triples that may be windows or snapshots
    std::set<std::uint32_t> reshapes{};
    std::set<Write> writes{};  ///< through what was reshaped

    void learn(const Told& told, const Origin* writer);
    shadow::Advice advice_for(const Told& told, const Origin* writer) const;
  };
  struct Family {
    Memory* memory = nullptr;
    Cells copy{};  ///< where reshape copies: of this family alone
    int told = 0;  ///< when it accessed last: of what was written until then it knows
    const Origin* origin = nullptr;
    std::optional<Unknown> unread{};  ///< it was told of it at a write of its own
    std::optional<Unknown> known{};   ///< the last write that it knows of
    int known_at_first = 0;           ///< when that was as the family was made
    int heard = 0;                    ///< when it was told last where it read
    std::uint32_t heard_of = 0;       ///< and the index of that among all that was told
  };
  /// What elements are, and where.
  struct Type {
    DType dtype = DType::i64;  ///< or i32, or boolean
    bool is_on_device = false;

    std::size_t width() const { return dtype == DType::i64 ? 2 : 1; }  ///< in cells
  };
  using Places = std::vector<std::size_t>;
  struct Tensor {
    Layout layout{};
    Family* family = nullptr;  ///< null if it has no memory
    Type type{};
    Places places{};  ///< the first cells of its elements, in row-major order

    std::size_t width() const { return type.width(); }
    bool is_all_of_its_memory() const {
      return places.size() * width() == family->memory->capacity;
    }
  };

  Worlds() = default;
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;

  /// Does as the statement says in both worlds; false, and nothing changed, if that is not possible,
  /// or not in both of them: what overlaps in part is refused only where there is an alias.
  bool run(const Statement& statement, std::uint32_t number);

  const std::map<std::size_t, Tensor>& tensors() const { return tensors_; }
  /// Its memory, with another tensor.
  bool is_shared(const Tensor& tensor) const;
  const Reads& reads_of_aliases() const { return reads_[0]; }
  const Reads& reads_of_copies() const { return reads_[1]; }
  /// Of each read, for the elements that differ.
  const std::vector<Accounts>& accounts_of_reads() const { return accounts_; }
  /// Whether write_through of it left a pointer that may still be written through.
  bool may_write_kept(std::size_t name) const;
  /// Everything that is told, also what was told before; and of each its reason.
  const Tellings& told() const { return told_; }
  const std::vector<Reason>& reasons_of_told() const { return reasons_; }
  /// The same with the advice that all of it leads to, as the summary has it.
  Tellings summary() const;
  /// How much is not told.
  std::uint64_t silenced() const { return silenced_; }
  std::uint64_t reshapes() const { return reshapes_; }
  std::uint64_t unaudited() const { return unaudited_; }

 private:
  enum class Kind : std::uint8_t { observed, carried, write };
  using NewElement = std::function<Element(const Element& old, std::size_t index)>;
  struct Kept {
    Tensor tensor;
    std::uint32_t line = 0;
    int lazy_clones = 0;
  };

  // worlds.cpp
  bool make(const Statement& statement);
  bool make_tensor(const Statement& statement);
  bool change_tensor(const Statement& statement);
  bool change_both(const Statement& statement);
  bool read(const Statement& statement);
  bool add(const Tensor& self, const Tensor& other);
  void copy(Tensor& self, const Tensor& source);

  // worlds_combined.cpp
  std::optional<Tensor> combined(const Tensor& self, const Statement& statement);

  // worlds_memory.cpp
  bool change_memory(const Statement& statement);
  bool resize(Tensor& self, const Dims& sizes, bool frees);
  bool reserve(Tensor& self, const Dims& sizes);
  bool extend(Tensor& self, std::int64_t count, std::int64_t growth, std::int64_t value);
  bool share_data(Tensor& self, const Tensor& source);
  std::optional<Tensor> over(const Tensor& self, const Dims& sizes) const;
  Tensor reshape(const Tensor& self, const Statement& statement);
  void watch(Memory& memory);
  Tensor lazy_clone(const Tensor& of, const Layout& layout);
  Tensor clone(const Tensor& of);
  Tensor moved(const Tensor& of);
  Tensor new_tensor(const Layout& layout, Type type, const Elements& elements);
  static Cells parted(const Family& family);
  bool shares_data(const Memory& memory) const;
  void grow(Tensor& self, std::size_t capacity);

  // worlds_accesses.cpp
  static Element element_in(const Family& family, std::size_t place, std::size_t width);
  static Elements elements_of(const Tensor& tensor, const Places& places);
  void read_all(const Tensor& tensor, std::int64_t way);
  /// Of all elements, if there are any.
  void access(const Tensor& tensor, Kind kind);
  /// Of these cells, also if there are none; `times` times where nobody is told the first time.
  void access(Family& family, const Places& cells, Kind kind, bool is_of_all = false,
              std::uint64_t times = 1);
  /// Of these elements, if there are any.
  void write(const Tensor& tensor, const Places& places, const NewElement& element,
             bool may_be_of_all = true);
  void set(const Tensor& tensor, const Places& places, const NewElement& element,
           const Write& made);
  void write_through(std::size_t name, const Tensor& tensor, std::int64_t value);
  void write_kept(const Kept& kept, std::int64_t value);
  void account_for(Family& family, const Places& cells);
  Unknown unknown_of(const Family& family, const Write& write, int when) const;
  std::optional<Unknown> unread_by(const Family& family) const;
  Unknown unknown_to(const Family& family) const;
  std::optional<Unknown> last_write_of(const Family& family) const;
  void tell(const Family& family, const Unknown& of, Kind kind, bool is_of_all);
  Reason reason_of(const Family& family, const Places& cells, Kind kind, bool is_left) const;

  std::deque<Memory> memories_;
  std::deque<Family> families_;
  Origins origins_;
  std::map<std::size_t, Tensor> tensors_;
  std::map<std::size_t, Kept> kept_;
  std::array<Reads, 2> reads_;
  std::vector<Accounts> accounts_;
  std::vector<Write> made_;  ///< by when
  Tellings told_;
  std::vector<Reason> reasons_;
  std::vector<const Origin*> writers_;  ///< of each that is told, what wrote
  Shared shared_;
  std::uint64_t silenced_ = 0;
  std::uint64_t silenced_reads_ = 0;  ///< in what an error makes the interpreter do again
  std::uint64_t reshapes_ = 0;
  std::uint64_t unaudited_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t line_ = 0;
  bool is_silent_ = false;
  int now_ = 0;
  int last_data_ = 0;
};

/// The layout that an operation that only makes a view gives; throws as the operation.
Layout layout_of_view(const Layout& layout, const Statement& statement);
/// Of elements that take `width` places each.
std::vector<std::size_t> places_of(const Layout& layout, std::size_t width = 1);
/// The cells of elements at these places.
std::vector<std::size_t> cells_of(const std::vector<std::size_t>& places, std::size_t width);
std::vector<std::size_t> all_cells_of(const Worlds::Family& family);

}  // namespace byre::test

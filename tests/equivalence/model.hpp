// SPDX-License-Identifier: BSL-1.0
/// The reference model: what programs read where reshape aliases, and where it copies, computed element by element
/// without storages, generations, pointers or copy-on-write; and where the rule of the seed "Copy-on-write motivation"
/// reports: a family accesses, and another wrote since it did so last.
#pragma once

#include <byre/tensor/layout.hpp>

#include <array>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "steps.hpp"

namespace byre::test {

/// Why an element may differ between aliases and copies. Values are computed of values: of several causes
/// the first in this order is kept.
enum class Cause : std::uint8_t {
  nothing,       ///< nobody knows: always wrong
  kept_pointer,  ///< it was written last through a pointer that was kept: an untracked escape
  reported,      ///< at the read of it, or at one of its family since it was written
  suppressed,    ///< the read of it, or its write, or the reshape between
};
/// How many elements have each.
using CauseCounts = std::array<std::size_t, 4>;

/// Where reshape aliases, and where it copies.
struct Element {
  std::array<std::int64_t, 2> in{};
  Cause cause{};  ///< if the two differ

  bool differs() const { return in[0] != in[1]; }
};
using Elements = std::vector<Element>;

/// What runs of a program have to do.
struct Expected {
  std::set<int> refused;  ///< the numbers of steps
  /// Where reshape aliases, and where it copies. Steps that make a tensor may read, as 1 or 0, whether it shares data
  /// with their first one.
  std::array<Reads, 2> reads;
  CauseCounts causes{};  ///< of elements that were read and differ
  /// Every violation without a suppression, also those whose triple was reported before.
  std::vector<Reported> violations;
  bool is_any_suppressed = false;
  std::uint64_t reshapes = 0;  ///< that were tracked
  std::uint64_t escapes = 0;   ///< pointers to write that left tracked storages
};

/// For one thread.
class Model {
 public:
  struct Cell {
    std::int64_t value = 0;
    int written = 0;  ///< when
    Cause cause{};
  };
  using Cells = std::vector<Cell>;
  /// Where a write is made: the call site, and the reshape that made the family.
  struct Write {
    int line = 0;
    int reshape = 0;
    std::optional<shadow::ReshapeMode> mode{};
    bool is_by_kept_pointer = false;  ///< through a pointer that was kept

    friend auto operator<=>(const Write&, const Write&) = default;
  };
  struct Number {
    int number = 0;  ///< families of a storage, in the order in which they were made
    int origin = 0;
  };
  struct LastWrite {
    int when = 0;
    Number by{};
  };
  struct Family;
  /// Where reshape aliases.
  struct Memory {
    Cells cells{};
    Family* first_family = nullptr;
    int families = 0;                     ///< others
    bool has_escaped = false;             ///< a pointer to write, while there was one family
    std::map<Write, LastWrite> writes{};  ///< none that is unseen
    int lazy_clones = 0;                  ///< made of it: pointers to write from before are void
    bool has_equal_size_in_all_runs =
        true;  ///< the storage has these cells also where reshape copies
  };
  /// A write that a family has not observed.
  struct UnobservedWrite {
    Write write{};
    int when = 0;
    int reshape = 0;  ///< that separates the two
    bool is_suppressed = false;
    bool is_error = false;

    auto rank() const { return std::tuple(!is_suppressed, is_error, when); }
  };
  struct Family {
    Memory* memory = nullptr;
    Cells copy{};      ///< where reshape copies: of this family alone
    int observed = 0;  ///< when it accessed last: of what was written until then it knows
    Number number{};
    const Family* reshaped_from = nullptr;
    /// When: it missed what was written before as the family that it was reshaped from did.
    int made = 0;
    int reshape = 0;
    std::optional<shadow::ReshapeMode> mode{};
    std::optional<std::pair<Write, int>> unread{};  ///< it was reported at a write of its own
    int reported = 0;                               ///< when a read was reported last
  };
  using Places = std::vector<std::size_t>;
  struct Tensor {
    Layout layout{};
    Family* family = nullptr;
    bool is_on_device = false;
    Places places{};  ///< of its elements in the memory, in row-major order

    /// Another view of the memory.
    Tensor with_layout(Layout other) const;
    bool is_all() const {
      return places.size() == family->memory->cells.size() && !may_overlap_itself(layout);
    }
    /// Nothing tells the runs apart: storages are equal, and layouts.
    bool is_equal_in_all_runs() const {
      return family->memory->families == 0 && family->memory->has_equal_size_in_all_runs;
    }
  };

  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Takes the step with aliases and with copies. Skips it, and changes nothing, if one of the two cannot take it: a
  /// partial overlap is refused only where there is an alias. Refuses it if every run does.
  Happened run(const Step& step);

  const std::map<Ref, Tensor>& tensors() const { return tensors_; }
  /// With another tensor.
  bool shares_memory(const Tensor& self) const;
  const Expected& expected() const { return expected_; }
  /// Whether write_through of it left a pointer that may still be written through.
  bool may_write_kept(Ref name) const;

 private:
  enum class Kind : bool { read, write };
  using NewElement = std::function<Element(const Element& old, std::size_t index)>;
  struct KeptPointer {
    Tensor tensor;
    int lazy_clones = 0;
  };

  // model.cpp
  Happened make_tensors(const Step& step);
  Happened change_family(const Step& step);
  Happened change_elements(const Step& step);
  Happened change_by_other(const Step& step);
  Happened read(const Step& step);

  // model_families.cpp
  Happened make_views(const Step& step);
  Tensor copied(const Step& step);
  Tensor reshape(const Tensor& self, const Step& step);
  Tensor dense_clone(const Tensor& of, const Dims& sizes, const Places& places);
  Tensor lazy_clone(const Tensor& of, const Layout& layout);
  Tensor clone(const Tensor& of, const Dims& sizes, const Places& places);
  Family* add_memory(Memory memory, Cells copy);
  Tensor new_tensor(const Layout& layout, const NewElement& element);
  Happened change_memory(const Step& step);
  Tensor filled(const Dims& sizes, std::int64_t value);
  Happened resize(Tensor& self, const Step& step);
  Happened extend(Tensor& self, const Step& step);
  static Cells separated(const Family& family);

  // model_accesses.cpp
  static Elements elements_of(const Tensor& tensor, const Places& places);
  void access(Family& family, const Places& places, Kind kind);
  void write(const Tensor& tensor, const Places& places, const NewElement& element,
             bool escapes = false);
  void set(const Tensor& tensor, const Places& places, const NewElement& element,
           const Write& made);
  void record_causes(Family& family, const Places& places);
  UnobservedWrite unobserved_write(const Family& family, const Write& write, int when) const;
  std::optional<UnobservedWrite> write_to_report(const Family& family, Kind kind) const;
  bool is_separated_by_suppressed(const Family& family, const Write& write, int when) const;

  std::deque<Memory> memories_;
  std::deque<Family> families_;
  std::map<Ref, Tensor> tensors_;
  std::map<Ref, KeptPointer> kept_;
  Expected expected_;
  std::vector<Write> made_;  ///< by when
  int number_ = 0;
  int line_ = 0;
  bool is_in_scope_ = false;
  int now_ = 0;
};

inline auto counted_from(std::int64_t value) {
  return [=](const Element&, std::size_t index) {
    const std::int64_t next = value + static_cast<std::int64_t>(index);
    return Element{{next, next}};
  };
}

/// In row-major order.
std::vector<std::size_t> places_of(const Layout& layout);

/// The name of the file whose call sites are suppressed ends in this, after a `/`.
inline constexpr const char* suppressed_file = "suppressed";

/// Runs a program all of whose steps the model took over real tensors.
RunOutcome run(const Program& program, const Expected& expected, shadow::ReshapeMode mode);

}  // namespace byre::test

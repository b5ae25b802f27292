// SPDX-License-Identifier: BSL-1.0
/// The reference model. It computes, element by element, what programs read if reshape aliases and
/// if it copies, without storages, generations, pointers or copy-on-write. It also computes the
/// reports, by the rule of the design note "Copy-on-write motivation": an access is reported if
/// another family has written the storage since the last access of the accessing family.
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

/// Why an element may differ between aliases and copies. An element that is computed from several
/// elements gets that of their causes that is first in this enumeration.
enum class Cause : std::uint8_t {
  unexplained,   ///< no known cause: always an error
  kept_pointer,  ///< the last write was through a kept pointer (an untracked escape)
  reported,      ///< reported at the read, or at an earlier read of the family since the write
  suppressed,    ///< the read, the write, or the reshape between the two is suppressed
};
/// The number of elements with each cause.
using CauseCounts = std::array<std::size_t, 4>;

/// The value if reshape aliases, and the value if it copies.
struct Element {
  std::array<std::int64_t, 2> in{};
  Cause cause{};  ///< the cause if the two values differ

  bool differs() const { return in[0] != in[1]; }
};
using Elements = std::vector<Element>;

/// The expected results of running a program.
struct Expected {
  std::set<int> refused;  ///< the numbers of the steps that fail in every run
  /// The values read if reshape aliases, and if it copies. Some steps that make a tensor count as
  /// reads, too: their value is 1 if the new tensor shares data with the step's first tensor, else
  /// 0.
  std::array<Reads, 2> reads;
  CauseCounts causes{};  ///< causes of the read elements that differ
  /// Every unsuppressed violation, also if its triple was reported before.
  std::vector<Reported> violations;
  bool is_any_suppressed = false;
  std::uint64_t reshapes = 0;  ///< tracked reshapes
  std::uint64_t escapes = 0;   ///< pointers to write to tracked storages
};

/// For use by one thread. A time is the number of writes so far.
class Model {
 public:
  struct Cell {
    std::int64_t value = 0;
    int written = 0;  ///< the time of the last write
    Cause cause{};
  };
  using Cells = std::vector<Cell>;
  /// The origin of writes: the call site, and the reshape that made the family.
  struct Write {
    int line = 0;
    int reshape = 0;
    std::optional<shadow::ReshapeMode> mode{};
    bool is_by_kept_pointer = false;  ///< the write was through a kept pointer

    friend auto operator<=>(const Write&, const Write&) = default;
  };
  struct Number {
    int number = 0;  ///< of the family in its storage, in the order of creation
    int origin = 0;
  };
  struct LastWrite {
    int when = 0;
    Number by{};
  };
  struct Family;
  /// The memory if reshape aliases.
  struct Memory {
    Cells cells{};
    Family* first_family = nullptr;
    int families = 0;          ///< number of families except the first
    bool has_escaped = false;  ///< a pointer to write was handed out while there was one family
    std::map<Write, LastWrite> writes{};     ///< all writes except those by kept pointers
    int lazy_clones = 0;                     ///< each lazy clone invalidates earlier pointers
    bool has_equal_size_in_all_runs = true;  ///< whether the size is equal if reshape copies
  };
  /// A write that a family has not observed.
  struct UnobservedWrite {
    Write write{};
    int when = 0;
    int reshape = 0;  ///< the reshape that separates the two families
    bool is_suppressed = false;
    bool is_error = false;

    auto rank() const { return std::tuple(!is_suppressed, is_error, when); }
  };
  struct Family {
    Memory* memory = nullptr;
    Cells copy{};  ///< the family's own cells if reshape copies
    /// The time of the last access: the family has observed the writes until then.
    int observed = 0;
    Number number{};
    const Family* reshaped_from = nullptr;
    /// The time of the family's creation. If the family from which it was made had not observed an
    /// earlier write, this family has not observed that write either.
    int made = 0;
    int reshape = 0;
    std::optional<shadow::ReshapeMode> mode{};
    std::optional<std::pair<Write, int>> unread{};  ///< reported when this family wrote
    int reported = 0;                               ///< the time of the last reported read
  };
  using Places = std::vector<std::size_t>;
  struct Tensor {
    Layout layout{};
    Family* family = nullptr;
    bool is_on_device = false;
    Places places{};  ///< the cells of its elements, in row-major order

    /// A tensor with another layout of the memory of `*this`.
    Tensor with_layout(Layout other) const;
    bool is_all() const {
      return places.size() == family->memory->cells.size() && !may_overlap_itself(layout);
    }
    /// Whether the storage and the layout are equal in all runs.
    bool is_equal_in_all_runs() const {
      return family->memory->families == 0 && family->memory->has_equal_size_in_all_runs;
    }
  };

  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Executes the step with aliases and with copies. Skips the step, without any change, if it is
  /// impossible in only one of the two: for example, a partial overlap is an error only with an
  /// alias. Refuses the step if it fails in every run.
  StepResult run(const Step& step);

  const std::map<Ref, Tensor>& tensors() const { return tensors_; }
  /// Whether another tensor uses the memory of `self`.
  bool shares_memory(const Tensor& self) const;
  const Expected& expected() const { return expected_; }
  /// Whether an earlier write_through of this tensor kept a pointer that is still valid.
  bool may_write_kept(Ref name) const;

 private:
  enum class Kind : bool { read, write };
  using NewElement = std::function<Element(const Element& old, std::size_t index)>;
  struct KeptPointer {
    Tensor tensor;
    int lazy_clones = 0;
  };

  // model.cpp
  StepResult make_tensors(const Step& step);
  StepResult change_family(const Step& step);
  StepResult change_elements(const Step& step);
  StepResult change_by_other(const Step& step);
  StepResult read(const Step& step);

  // model_families.cpp
  StepResult make_views(const Step& step);
  Tensor copied(const Step& step);
  Tensor reshape(const Tensor& self, const Step& step);
  Tensor dense_clone(const Tensor& of, const Dims& sizes, const Places& places);
  Tensor lazy_clone(const Tensor& of, const Layout& layout);
  Tensor clone(const Tensor& of, const Dims& sizes, const Places& places);
  Family* add_memory(Memory memory, Cells copy);
  Tensor new_tensor(const Layout& layout, const NewElement& element);
  StepResult change_memory(const Step& step);
  Tensor filled(const Dims& sizes, std::int64_t value);
  StepResult resize(Tensor& self, const Step& step);
  StepResult extend(Tensor& self, const Step& step);
  static Cells cells_of_copy(const Family& family);

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
  std::vector<Write> made_;  ///< all writes, indexed by time
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

/// The cells of all elements, in row-major order.
std::vector<std::size_t> places_of(const Layout& layout);

/// The end, after a `/`, of the name of the file whose call sites are suppressed.
inline constexpr const char* suppressed_file = "suppressed";

/// Runs a program over real tensors. Requires that the model has taken all its steps.
RunOutcome run(const Program& program, const Expected& expected, shadow::ReshapeMode mode);

}  // namespace byre::test

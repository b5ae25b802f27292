// SPDX-License-Identifier: BSL-1.0
#include "mapped_cells.hpp"

#include <byre/storage/origins.hpp>

#include "tracked.hpp"

namespace byre::verification {
namespace {

/// Made anew by each execution that maps something.
struct Mappings {
  unsigned live = 0;
};

}  // namespace

unsigned live_mappings() noexcept {
  return Execution::current().no_destructor<Mappings>().live;
}

}  // namespace byre::verification

namespace byre::inline v0::detail {

using verification::Cell;
using verification::Execution;

MappedFile::MappedFile(const FileName&)
    : data_(Execution::current().allocate(sizeof(Cell), alignof(Cell))), nbytes_(sizeof(Cell)) {
  Execution::current().name(data_, nbytes_, "mapped");
  ::new (data_) Cell(verification::mapped_number);
  ++Execution::current().no_destructor<verification::Mappings>().live;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) {
    return;
  }
  Cell& cell = *static_cast<Cell*>(data_);
  if (cell.get() != verification::mapped_number) {
    verification::fail(verification::Verdict::wrong_answer, "a mapped file was written");
  }
  cell.~Cell();
  --Execution::current().no_destructor<verification::Mappings>().live;
}

}  // namespace byre::inline v0::detail

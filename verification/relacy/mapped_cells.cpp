// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/mapped_file.hpp>

#include <memory>

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

namespace {

using verification::Cell;
using verification::Execution;

/// Too small for an overlay.
class MappedCell final : public PageFile {
 public:
  MappedCell() {
    auto* const place =
        static_cast<std::byte*>(Execution::current().allocate(sizeof(Cell), alignof(Cell)));
    set_mapping(place, sizeof(Cell));
    Execution::current().name(place, nbytes(), "mapped");
    ::new (place) Cell(verification::mapped_number);
    ++Execution::current().no_destructor<verification::Mappings>().live;
  }
  ~MappedCell() override {
    Cell& cell = verification::cell(data());
    if (cell.get() != verification::mapped_number) {
      verification::fail(verification::Verdict::wrong_answer, "a mapped file was written");
    }
    cell.~Cell();
    --Execution::current().no_destructor<verification::Mappings>().live;
  }

  Overlay map_overlay(std::byte*, OtherOverlays, MovedPages) noexcept override {
    return {nullptr, 0};
  }
  void unmap_overlay(std::byte*) noexcept override {}
};

}  // namespace

std::unique_ptr<PageFile> map_file(const FileName&) {
  return std::make_unique<MappedCell>();
}

}  // namespace byre::inline v0::detail

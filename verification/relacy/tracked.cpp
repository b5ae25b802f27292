// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/page_file.hpp>

#include <algorithm>
#include <memory>

#include "tracked.hpp"

namespace byre::verification {

Tracked::~Tracked() {
  if (frees_ != block_count_) {
    fail(Verdict::leak, "a block was never deallocated");
  }
}

Block Tracked::allocate(const Request& request) {
  const auto thread = static_cast<std::size_t>(rl::ctx().current_thread());
  if ((thread < refuses_.size() && refuses_[thread]) || chooses_to_fail(Faults::allocations)) {
    throw std::bad_alloc();
  }
  if (block_count_ == most) {
    fail(Verdict::checker_error, "the scenario allocates more blocks than the model allows");
  }
  Execution& execution = Execution::current();
  const std::size_t cell_count = request.nbytes / sizeof(Cell);
  const std::size_t size = request.prefix + cell_count * sizeof(Cell);
  auto* base = static_cast<std::byte*>(execution.allocate(size, data_alignment));
  std::byte* data = base + request.prefix;
  const unsigned number = block_count_++;
  blocks_[number] = {base, data, base + size, false};
  execution.name(base, request.prefix, name_of("header", number).data());
  execution.name(data, cell_count * sizeof(Cell), name_of("data", number).data());
  record_event(base, CallSite::current(), "allocated");
  for (std::size_t i = 0; i < cell_count; ++i) {
    ::new (data + i * sizeof(Cell)) Cell;
  }
  return {data, request.nbytes, base};
}

void Tracked::deallocate(const Block& block) noexcept {
  Record* const end = blocks_.data() + block_count_;
  Record* const record = std::find_if(
      blocks_.data(), end, [&](const Record& candidate) { return candidate.base == block.base; });
  if (record == end) {
    fail(Verdict::double_free, "a block of another allocator was deallocated");
  }
  record_event(record->base, CallSite::current(), "freed");
  if (record->freed) {
    fail(Verdict::double_free, "a block was deallocated twice");
  }
  record->freed = true;
  steps_ahead.depend_on_everything();
  ++frees_;
  for (std::byte* at = record->data; at != record->end; at += sizeof(Cell)) {
    reinterpret_cast<Cell*>(at)->~Cell();
  }
  // Relacy does not watch the header's plain fields. Because of this pattern, a read of a field
  // after the free returns a wrong value.
  std::memset(record->base, 0xDD, static_cast<std::size_t>(record->data - record->base));
}

void Tracked::copy(void* destination, const void* source, std::size_t nbytes) {
  auto* to = static_cast<std::byte*>(destination);
  const auto* from = static_cast<const std::byte*>(source);
  const bool fails = chooses_to_fail(Faults::copies);
  for (std::size_t i = 0; i < nbytes / sizeof(Cell); ++i) {
    cell(to, i).set(cell(from, i).get());
    if (fails) {
      throw CopyFailed();
    }
  }
  ++copies_;
}

bool Tracked::chooses_to_fail(Faults kind) {
  if ((faults_ != kind && faults_ != Faults::both) || rl::rand(2) == 0) {
    return false;
  }
  ++failures_;
  record_event(this, CallSite::current(),
               kind == Faults::copies ? "a copy fails" : "an allocation fails");
  return true;
}

std::array<char, 16> Tracked::name_of(const char* what, unsigned number) noexcept {
  std::array<char, 16> name;
  std::snprintf(name.data(), name.size(), "%s[%u]", what, number);
  return name;
}

namespace {

/// The number of live mappings of one execution.
struct Mappings {
  unsigned live = 0;
};

}  // namespace

unsigned live_mappings() noexcept {
  return Execution::current().no_destructor<Mappings>().live;
}

}  // namespace byre::verification

namespace byre::inline BYRE_ABI::detail {

namespace {

using verification::Cell;
using verification::Execution;

/// A mapped file of one cell. This is too small for an overlay (a private mapping of its pages).
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

}  // namespace byre::inline BYRE_ABI::detail

// SPDX-License-Identifier: BSL-1.0
/// The fuzz target of programs over buffers, storages, pins and tiled buffers. The first byte of
/// the input chooses the kind of program, and the other bytes every step. byre must behave like a
/// model that copies eagerly.
#include <byre/error/error.hpp>
#include <byre/memory/pages.hpp>
#include <byre/memory/pool.hpp>
#include <byre/pages/paged_allocator.hpp>

#include "../programs/program.hpp"
#include "target.hpp"

namespace byre::fuzz {
namespace {

using namespace programs;

constinit std::size_t warnings = 0;

Memory& memory() {
  static Memory instance;
  return instance;
}

/// Gives every program the same initial state: an empty pool, and a thread cache, which the first
/// buffer of a thread would otherwise allocate.
void prepare_process() {
  static const bool first_time = [] {
    set_warning_handler([](const char*) noexcept { ++warnings; });
    Buffer::allocate(1);
    memory();
    return true;
  }();
  static_cast<void>(first_time);
  default_pool().set_limit_nbytes(std::size_t{4} << 20);
  default_pool().trim();
  warnings = 0;
}

template <std::size_t FanOut>
void run(Choices choices, const Limits& limits) {
  using T = Types<sync::Default, FanOut>;
  Shared<T> shared(1);
  const stats::InstalledSink sink(&Program<T>::on_copy);
  Program<T> program(choices, memory(), shared, 0, limits);
  while (!program.is_over()) {
    program.step();
  }
  program.end();
  if (warnings != program.state().thrown) {
    fail("%zu warnings, but sinks threw %zu times", warnings, program.state().thrown);
  }
}

void run_input(Choices choices) {
  constexpr std::size_t tile_sizes[] = {1, 3, 16, 100, page_nbytes};
  const std::size_t choice = choices.byte();
  Limits limits{.tile_nbytes = tile_sizes[choice / 4 % std::size(tile_sizes)]};
  switch (choice % 4) {
    case 0:
      return run<32>(choices, limits);
    case 1:
      limits.mix = mix_of_storages();
      return run<32>(choices, limits);
    case 2:
      limits.mix = mix_of_tiles();
      return choice < 128 ? run<2>(choices, limits) : run<32>(choices, limits);
    default:
      limits.mix = mix_of_storages();
      if (choice % 8 == 3) {  // rarely, because steps on pages take ten times as long
        limits.only_pages = true;
        limits.least_nbytes = least_paged_nbytes;
      }
      return run<32>(choices, limits);
  }
}

}  // namespace

const char* const target_name = "storages";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  byre::fuzz::prepare_process();
  byre::fuzz::run_input(byre::programs::Choices(bytes, nbytes));
  return 0;
}

// SPDX-License-Identifier: BSL-1.0
// reporting_program PLUGIN: the program and the plugin exchange empty buffers and tensors for which
// a violation was reported. Each destroys objects that the other created.
#include <byre/shadow/summary.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <utility>

#include "reports.hpp"

namespace {

/// Whether `empty` behaves as an empty buffer. A library with hidden symbols has its own header for
/// empty buffers.
bool works_as_empty(byre::Buffer empty) {
  byre::Buffer clone = empty;
  byre::Buffer moved = std::move(clone);
  empty = moved;
  const bool is_empty = empty.is_unique() && empty.data() == nullptr && empty.use_count() == 0 &&
                        empty.mutable_data() == nullptr && !empty.shares_data_with(moved) &&
                        empty.lazy_clone().is_unique() &&
                        &empty.allocator() == &byre::default_allocator();
  empty.resize(8);
  return is_empty && empty.nbytes() == 8;
}

}  // namespace

int main(int count, char** arguments) {
  void* const plugin = count == 2 ? ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::fprintf(stderr, "usage: reporting_program PLUGIN\n");
    return 2;
  }
  using Do = void (*)(Reported*);
  const auto report_into = reinterpret_cast<Do>(::dlsym(plugin, "report_into"));
  const auto end = reinterpret_cast<Do>(::dlsym(plugin, "end"));
  byre::shadow::set_violation_handler([](const byre::shadow::Violation&) noexcept {});
  for (int round = 0; round < 3; ++round) {
    Reported mine = reshape_and_report();
    Reported theirs;
    report_into(&theirs);
    end(&mine);
    const Reported shared = theirs;
    theirs = {};
    if (!works_as_empty(mine.empty) || shared.reshaped.data<float>()[0] != 7) {
      std::fprintf(stderr, "an exchanged object has changed\n");
      return 1;
    }
  }
  const auto violations = byre::shadow::summary().violations;
  std::printf("%u violations\n", static_cast<unsigned>(violations));
  return violations == 6 ? 0 : 1;
}

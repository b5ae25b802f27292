// SPDX-License-Identifier: BSL-1.0
/// seam_*: operations of one program with two libraries of byre, one over sync::Boost and one over
/// sync::Standard.
#include "harness.hpp"
#include "seam.hpp"

#include <string>
#include <utility>

namespace byre_bench {
namespace {

void add_operation(const std::string& name, std::size_t times,
                   void (*Seam::*operation)(std::size_t)) {
  for (const auto& [contender, seam] :
       {std::pair("boost", &boost_seam), std::pair("standard", &standard_seam)}) {
    add({name, 64}, contender, [=, seam = seam](benchmark::State& state) {
      run_bursts(state, times,
                 [&](std::size_t) { return timed_ns([&] { (seam->*operation)(times); }); });
    });
  }
}

}  // namespace

void add_seams() {
  add_operation("seam_clone_drop", 4096, &Seam::clone_and_drop);
  add_operation("seam_write_alone", 4096, &Seam::write_alone);
  add_operation("seam_write_shared", 1024, &Seam::write_shared);
  add_operation("seam_wait_and_wake", 64, &Seam::wait_and_wake);
}

}  // namespace byre_bench

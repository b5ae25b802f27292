// SPDX-License-Identifier: BSL-1.0
/// The reports at each step of small programs: the reshape and the write that a report names, and
/// its advice. tests/equivalence checks the reports of random programs, but not their advice.
#include "program_run.hpp"

#include <cctype>

namespace byre::test {
namespace {

struct Case {
  const char* name;
  const char* steps;  ///< in the language of program_run.hpp
};

// clang-format off
constexpr Case cases[] = {
  // The rule: an access is reported if another family wrote since the family's last access.
  {"after a partial write the read of the rest is reported once",
   "y = reshape x 10; write x 11; part y 12 > 10 11 reshape_and_clone;"
   "read y 13 > 10 11 reshape_and_clone;"
   "read y 14"},
  {"a write of all elements is reported once",
   "y = reshape x 10; write x 11; write y 12 > 10 11 nothing; read y 13"},
  {"views belong to the family of their tensor",
   "y = reshape x 10; v = view y; part v 11; read y 12; u = view x; read u 13 > 10 11 view;"
   "read x 14"},
  {"an error of an earlier write precedes a report of the last",
   "y = reshape! x 10; z = reshape x 20; write x 11; read y 12 ! 10 11 reshape_and_clone;"
   "write y 12;"
   "write z 13 > 20 12 nothing; read x 14 ! 10 12 view; read x 14"},
  {"an unread error precedes a report of a later write",
   "y = reshape! x 10; z = reshape y 20; write x 11; part y 12 ! 10 11 reshape_and_clone;"
   "write z 13 > 20 11 nothing;"
   "read y 14 ! 10 11 reshape_and_clone; read y 14"},
  {"a later report does not replace an unread error",
   "y = reshape! x 10; z = reshape y 20; write x 11; part y 12 ! 10 11 reshape_and_clone;"
   "write z 13 > 20 11 nothing;"
   "part y 14 > 20 13 view; read y 15 ! 10 11 reshape_and_clone; read y 15"},
  {"two writers at one line each have their own mode",
   "y = reshape x 10; z = reshape! x 10; part y 11; part z 11 ! 10 11 reshape_and_clone; part z 11;"
   "read x 12 ! 10 11 view"},
  {"after a write that threw, a read throws as well",
   "y = reshape! x 10; write x 11; part y 12 ! 10 11 reshape_and_clone;"
   "read y 13 ! 10 11 reshape_and_clone;"
   "read y 14"},

  // Advice.
  {"all reports of a reshape have one advice",
   "y = reshape x 10; write x 11; read y 12 > 10 11 reshape_and_clone; write x 11;"
   "read y 12 again; all view_or_clone;"
   "write y 13; read x 14 > 10 13 view; all view"},
  {"a write of all elements after a write does not advise view",
   "y = reshape x 10; write x 11; write y 12 > 10 11 nothing; write x 13 > 10 12 nothing;"
   "read y 14 > 10 13 reshape_and_clone"},  // y observed only its own write
  {"a write of all elements on a device",
   "d = device; y = reshape d 10; write d 11; write y 12 > 10 11 nothing"},
  {"advice nothing is replaced when a part is written later",
   "y = reshape x 10; write x 11; write y 12 > 10 11 nothing; write x 11 > 10 12 nothing;"
   "element y 12 again;"
   "advice 10 11 12 reshape_and_clone"},
  {"if one reader of a write is advised view then all are",
   "y = reshape x 10; z = reshape y 20; write y 11; read z 12 > 20 11 reshape_and_clone;"
   "read x 13 > 10 11 view;"
   "all view; write y 11; write z 14 > 20 11 nothing;"  // z overwrites all old values unread
   "o = new; p = reshape o 30; write o 11; read p 12 > 30 11 reshape_and_clone"},
  {"for siblings the reshape of the accessing family is named",
   "y = reshape x 10; z = reshape x 20; write y 11; read z 12 > 20 11 reshape_and_clone;"
   "write y 11; read z 12 again;"
   "write z 13; read y 14 > 10 13 reshape_and_clone; all reshape_and_clone"},
  {"the advice of a known triple changes once view is advised",
   "y = reshape x 10; write x 11; read y 12 > 10 11 reshape_and_clone; write y 11;"
   "read x 12 again; all view"},
  {"a known write is advised view for all readers",
   "y = reshape x 10; write x 11; read y 12 > 10 11 reshape_and_clone; write y 13;"
   "read x 14 > 10 13 view;"
   "z = reshape y 20; write y 11; read x 12 again; read z 15 > 20 11 view"},
  {"weaker advice does not replace that of a known triple",
   "o = new; p = reshape o 10; write o 11; read p 12 > 10 11 reshape_and_clone;"
   "q = new; r = reshape q 10; write q 11; write r 12 again; all reshape_and_clone;"
   "y = reshape x 10; write x 11; read y 12 again; write x 11; read y 12 again; all view_or_clone;"
   "s = new; t = reshape s 10; write s 11; read t 12 again; all view_or_clone"},
  {"advice nothing is replaced by view at an unknown reshape",
   "y = reshape x 0; write y 11; write x 12 > 0 11 nothing; all nothing;"
   "write y 11 > 0 12 nothing; part x 12 again;"
   "advice 0 11 12 view"},
  {"view at unknown call sites applies to no other site",
   "y = reshape x 10; z = reshape y 0; write y 0; read x 12 > 10 0 view;"
   "read z 13 > 0 0 reshape_and_clone;"
   "o = reshape x 0; write o 14; read x 15 > 0 14 view; write y 16 > 10 14 view;"
   "read z 17 > 0 16 view_or_clone;"
   "p = reshape o 20; write o 14 > 0 16 nothing; read p 18 > 20 14 reshape_and_clone"},

  // Realistic programs. examples/reshape_audit has more, with tensors, before and after the
  // rewrite.
  {"a packet by its header and its records",
   "y = reshape x 10; part x 11; part y 12 > 10 11 reshape_and_clone; read x 13 > 10 12 view;"
   "read y 14 > 10 11 view; all view"},
  {"gradients of a layer are summed into a vector, which is cleared",
   "y = reshape x 10; part y 11; part y 11; read x 12 > 10 11 view; write x 13;"
   "part y 11 > 10 13 view;"
   "part y 11; read x 12 again; all view"},
  {"groups are normalized in place and read as a flat tensor",
   "y = reshape x 10; z = reshape y 20; read y 11; part y 11; read x 12 > 10 11 view;"
   "read z 13 > 20 11 view"},
  {"two tensors that monitor one state",
   "y = reshape x 10; z = reshape x 20; part x 11; read y 12 > 10 11 reshape_and_clone;"
   "read z 13 > 20 11 reshape_and_clone; part x 11; read y 12 again; read z 13 again;"
   "all view_or_clone"},
  {"a part of one scratch tensor is counted, the other summed",
   "y = reshape x 10; z = reshape x 20; write y 11; part z 12 > 20 11 reshape_and_clone;"
   "read y 13 > 10 12 reshape_and_clone; read z 14 > 20 11 reshape_and_clone;"
   "all reshape_and_clone"},

  // Two families write at once: a write counts when it ends. The model checker's scenario
  // families_race tests two writes that meet within one step of generation.hpp.
  {"a write that ends after another write is reported and last",
   "d = device; y = reshape d 10; z = reshape d 20; during write d 11;"
   "write y 12 > 10 11 nothing; is d 12 12;"
   "read d 13 > 10 12 view; read y 14; read z 15 > 20 12 view"},
  {"a write that ends after another write throws when complete",
   "d = device; y = reshape! d 10; during write d 11; write y 12 ! 10 11 nothing; is d 12 12;"
   "read d 13 ! 10 12 view; read y 14"},
  {"a write by a copy within a device counts when the copy ends",
   "d = device; y = reshape d 10; during write d 11; copy y 12 > 10 11 nothing; is d 12 12;"
   "read d 13 > 10 12 view; read y 14"},
  {"a write of a part leaves the rest of another write unread",
   "d = device; y = reshape d 10; during write d 11; part y 12 > 10 11 reshape_and_clone;"
   "is d 12 11;"
   "read y 13 > 10 11 reshape_and_clone; read d 14 > 10 12 view"},
  {"a write that fails does not count",
   "d = device; y = reshape! d 10; z = reshape d 20; fails y 12; read d 13; write d 11;"
   "fails z 12 > 20 11 nothing;"
   "read d 13; read z 14 > 20 11 reshape_and_clone"},

  // Escapes.
  {"each report of a storage counts its pointers",
   "y = reshape x 10; escape x 31; escape x 32; write x 11;"
   "read y 12 > 10 11 reshape_and_clone 2 31; escapes 2 31;"
   "escape x 11; read y 12 again; escapes 3 31"},
  {"no report counts pointers to another storage",
   "o = new; p = reshape o 20; escape o 31; y = reshape x 10; write x 11;"
   "read y 12 > 10 11 reshape_and_clone;"
   "escapes 1 31"},
  {"pointers before the first tracked reshape count as one",
   "mode warn; escape x 31; v = view x; escape v 32; escapes 0 0; y = reshape x 10;"
   "z = reshape x 10; escapes 1 31;"
   "escape x 33; escapes 2 31"},
  {"pointers of parallel loops count before the first tracked reshape and after",
   "mode warn; loop x 31; y = reshape x 10; escapes 1 31; loop x 32; escapes 2 31;"
   "read y 12 > 10 32 reshape_and_clone 2 31"},
  {"pointers do not count if the mode does not track",
   "escape x 31; mode alias; escape x 32; y = reshape x 10; escapes 0 0"},
};
// clang-format on

class Programs : public testing::TestWithParam<Case> {
 protected:
  static void run(Written written) {
    ProgramRun program(written);
    std::istringstream steps(GetParam().steps);
    for (std::string step; std::getline(steps, step, ';');) {
      program.take(step);
    }
  }
};

TEST_P(Programs, each_step_is_reported_as_expected) {
  run(Written::as_found);
}

TEST_P(Programs, programs_rewritten_as_advised_cause_no_reports) {
  run(Written::as_view);
  run(Written::as_clone);
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(cases), [](const auto& of) {
  std::string name;
  for (const char each : std::string(of.param.name)) {
    name += std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_';
  }
  return name;
});

}  // namespace
}  // namespace byre::test

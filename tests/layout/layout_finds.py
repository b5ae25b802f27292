# SPDX-License-Identifier: BSL-1.0
"""The checks in layout.py, on small trees that keep or break one rule each."""
import pathlib
import tempfile
import unittest

import layout

SPDX = "// SPDX-License-Identifier: BSL-1.0\n"


class LayoutFinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write(
            "core/byre/meson.build",
            "# SPDX-License-Identifier: BSL-1.0\nbyre_api_headers += files('cow/a.hpp')\n",
        )
        self.write("core/byre/cow/a.hpp", SPDX + "#include <byre/memory/b.hpp>\n")
        self.write("verification/relacy/mutation.cpp", SPDX)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def complaints(self, rule):
        return list(rule(self.root))

    def breaks(self, rule, name, text):
        self.write(name, SPDX + text)
        found = self.complaints(rule)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith((name, name.removeprefix("core/byre/"))), found)

    def test_a_clean_tree_has_no_complaints(self):
        for rule in layout.RULES:
            self.assertEqual(self.complaints(rule), [], rule.__name__)

    def test_a_room_may_not_include_a_room_above_it(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/cow/a.hpp", "#include <byre/storage/buffer.hpp>\n")

    def test_a_part_may_not_include_a_part_above_it(self):
        rule = layout.parts_of_rooms_include_only_parts_below_them
        self.write("core/byre/tensor/elements/a.cpp", SPDX + "#include <byre/tensor/layout/detail/b.hpp>\n")
        self.write("core/byre/tensor/tensor.hpp", SPDX + "#include <byre/tensor/views.hpp>\n")
        self.breaks(rule, "core/byre/tensor/b.cpp", "#include <byre/tensor/elements/detail/c.hpp>\n")

    def test_functional_has_no_circle(self):
        rule = layout.parts_of_rooms_include_only_parts_below_them
        self.write("core/byre/functional/graph/a.cpp", SPDX + "#include <byre/functional/dispatch/key.hpp>\n")
        self.assertEqual(self.complaints(rule), [])
        self.breaks(rule, "core/byre/functional/dispatch/a.cpp", "#include <byre/functional/graph/graph.hpp>\n")

    def test_an_api_header_is_of_its_part(self):
        rule = layout.parts_of_rooms_include_only_parts_below_them
        self.breaks(rule, "core/byre/tensor/layout.hpp", "#include <byre/tensor/tensor.hpp>\n")

    def test_a_part_that_has_no_place_in_the_order_is_found(self):
        rule = layout.parts_of_rooms_include_only_parts_below_them
        self.breaks(rule, "core/byre/tensor/attic/a.cpp", "")

    def test_sync_may_not_include_stats(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/sync/a.cpp", "#include <byre/observe/counters.hpp>\n")

    def test_stats_may_not_include_memory(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/stats/a.cpp", "#  include <byre/memory/pool.hpp>\n")

    def test_error_may_include_no_other_room(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/error/a.cpp", "#include <byre/sync/boost.hpp>\n")

    def test_no_room_may_include_the_umbrella(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/functional/a.cpp", "#include <byre/byre.hpp>\n")

    def test_a_quoted_include_would_hide_from_the_rule(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/cow/a.hpp", '#include "../storage/buffer.hpp"\n')

    def test_a_new_room_has_to_be_put_in_order(self):
        rule = layout.rooms_include_only_rooms_below_them
        self.breaks(rule, "core/byre/attic/a.cpp", "")

    def test_core_may_not_name_what_checks_it(self):
        rule = layout.core_names_nothing_that_stands_on_it
        self.breaks(rule, "core/byre/cow/a.hpp", "#include <verification/relacy_sync.hpp>\n")

    def test_a_fence_is_found(self):
        rule = layout.core_leaves_ordering_to_the_seam
        self.breaks(rule, "core/byre/cow/a.hpp", "std::atomic_thread_fence(order);\n")

    def test_a_header_at_the_top_that_is_not_listed_is_found(self):
        rule = layout.what_is_api_is_seen_and_only_what_it_needs_is_installed
        self.breaks(rule, "core/byre/cow/unlisted.hpp", "")

    def test_a_detail_that_api_needs_and_that_is_not_installed_is_found(self):
        rule = layout.what_is_api_is_seen_and_only_what_it_needs_is_installed
        self.write("core/byre/cow/detail/needed.hpp", SPDX)
        self.assertEqual(self.complaints(rule), [])
        self.write("core/byre/cow/a.hpp", SPDX + "#include <byre/cow/detail/needed.hpp>\n")
        self.assertEqual(len(self.complaints(rule)), 1)

    def test_a_detail_that_is_installed_for_nobody_is_found(self):
        rule = layout.what_is_api_is_seen_and_only_what_it_needs_is_installed
        self.write("core/byre/cow/detail/alone.hpp", SPDX)
        self.write("core/byre/cow/meson.build", "byre_detail_headers += files('detail/alone.hpp')\n")
        self.assertEqual(len(self.complaints(rule)), 1)

    def test_a_detail_that_is_called_api_is_found(self):
        rule = layout.what_is_api_is_seen_and_only_what_it_needs_is_installed
        self.write("core/byre/cow/detail/a.hpp", SPDX)
        self.write("core/byre/cow/meson.build", "byre_api_headers += files('detail/a.hpp')\n")
        self.assertEqual(len(self.complaints(rule)), 2)

    def test_iostream_in_a_header_is_found(self):
        rule = layout.what_is_api_is_seen_and_only_what_it_needs_is_installed
        self.breaks(rule, "core/byre/cow/a.hpp", "#include <iostream>\n")

    def test_state_in_a_header_is_found(self):
        rule = layout.state_of_the_process_is_defined_in_a_source
        for kept in ("static constexpr int one = 1;", "static void f();", "inline constexpr int two{2};",
                     "extern thread_local int mine;", "static const int three = 3;",
                     "return Sync::template no_destructor<Table>();"):
            self.write("core/byre/cow/a.hpp", SPDX + kept + "\n")
            self.assertEqual(self.complaints(rule), [], kept)
        for state in ("  static Table table;", "inline int counted = 0;", "thread_local int mine = 0;",
                      "  return sync::no_destructor<Table>();", "static std::mutex mutex{};"):
            self.breaks(rule, "core/byre/cow/a.hpp", state + "\n")

    def test_a_lock_that_a_fork_may_find_held_is_found(self):
        rule = layout.locks_of_the_process_are_held_over_forks
        for kept in ("sync::ProcessMutex mutex;", "sync::ProcessMutex mutex_;", "const sync::Lock lock(mutex_);"):
            self.write("core/byre/cow/a.hpp", SPDX + kept + "\n")
            self.assertEqual(self.complaints(rule), [], kept)
        for lost in ("  sync::Mutex mutex;", "mutable sync::Mutex mutex_;", "Sync::SharedMutex all;",
                     "boost::mutex mutex_;", "boost::recursive_mutex mutex{};", "std::mutex mutex;",
                     "std::array<sync::Mutex, 61> all;", "pthread_mutex_t mutex = {};"):
            self.breaks(rule, "core/byre/cow/a.hpp", lost + "\n")

    def test_a_scenario_includes_core_and_its_like_alone(self):
        self.write(
            "verification/scenarios/a.cpp",
            SPDX + '#include <array>\n#include <byre/cow/a.hpp>\n#include "../search.hpp"\n#include "b.hpp"\n',
        )
        rule = layout.scenarios_check_what_ships
        self.assertEqual(self.complaints(rule), [])
        self.breaks(rule, "verification/scenarios/b.hpp", '#include "../relacy/share_word.hpp"\n')
        self.breaks(rule, "verification/scenarios/b.hpp", "#include <byre/cow/copy_of_a.hpp>\n")
        self.breaks(rule, "verification/scenarios/b.hpp", "#include <copies/share_word.hpp>\n")

    def test_a_table_without_mutants_is_found(self):
        rule = layout.every_table_of_sites_yields_mutants
        self.breaks(rule, "core/byre/cow/a.hpp", "inline constexpr sync::SiteTable<A, 3> a_sites{{{\n")

    def test_a_file_without_a_license_is_found(self):
        self.write("tests/a.cpp", "int main() {}\n")
        self.assertEqual(len(self.complaints(layout.every_file_names_its_license)), 1)


if __name__ == "__main__":
    unittest.main()

// SPDX-License-Identifier: BSL-1.0
/// Lazy clones in other processes: what each process reads, and how the end of a clone is noticed.
#include <byre/ipc/send.hpp>
#include <byre/memory/budget.hpp>
#include <byre/observe/counters.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/explain.hpp>
#include <byre/system/detail/memory.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../pages/children.hpp"
#include "../pages/paged_buffers.hpp"
#include "support/watched_system.hpp"
#include "views.hpp"

namespace byre::test {
namespace {

TEST_F(Views, neither_process_sees_the_writes_of_the_other) {
  EXPECT_TRUE(peer_.tell(Order::write, 5, two));
  EXPECT_EQ(buffer_.data()[5], one);
  EXPECT_EQ(buffer_.materialize(), Materialized::overlaid);
  buffer_.mutable_data()[6] = three;
  EXPECT_EQ(peer_.tell(Order::read, 6), one);
  EXPECT_EQ(peer_.tell(Order::read, 5), two);
  EXPECT_EQ(buffer_.data()[5], one);
}

TEST_F(Views, a_write_with_a_view_never_waits) {
  EXPECT_EQ(buffer_.materialize(Wait::allowed), Materialized::overlaid);
}

/// Lets `to` receive what `from` has.
void pass_on(Peer& from, Peer& to) {
  EXPECT_TRUE(from.tell(Order::send));
  send(to.data[0], receive<ExportedPages>(from.data[0]));
  EXPECT_TRUE(to.tell(Order::receive));
}

TEST(Generations, outlive_the_processes_between_them) {
  collect();
  Peer first;
  Peer second;
  Peer third;
  Buffer buffer = filled(one);
  send(first.data[0], buffer);
  EXPECT_TRUE(first.tell(Order::receive));
  EXPECT_TRUE(first.tell(Order::write, 5, two));
  pass_on(first, second);
  EXPECT_TRUE(second.tell(Order::write, 6, three));
  pass_on(second, third);
  EXPECT_TRUE(first.tell(Order::write, 7, three));
  buffer.mutable_data()[8] = three;
  first.kill();
  EXPECT_EQ(collect().remaining, 1U);
  second.kill();
  EXPECT_EQ(collect().remaining, 1U);
  EXPECT_EQ(third.tell(Order::read, 5), two);
  EXPECT_EQ(third.tell(Order::read, 6), three);
  EXPECT_EQ(third.tell(Order::read, 7), one);
  EXPECT_EQ(third.tell(Order::read, 8), one);
  buffer = Buffer();
  EXPECT_EQ(third.tell(Order::read, paged_nbytes - 1), one);
  third.kill();
  EXPECT_EQ(collect().remaining, 0U);
}

TEST(Generations, may_send_back) {
  Peer peer;
  Buffer buffer = filled(one);
  send(peer.data[0], buffer);
  EXPECT_TRUE(peer.tell(Order::receive));
  EXPECT_TRUE(peer.tell(Order::write, 5, two));
  EXPECT_TRUE(peer.tell(Order::send));
  Buffer back = receive(peer.data[0]);
  EXPECT_EQ(back.data()[5], two);
  back.mutable_data()[6] = three;
  EXPECT_EQ(buffer.data()[6], one);
  EXPECT_EQ(buffer.data()[5], one);
  EXPECT_EQ(buffer.materialize(), Materialized::overlaid);
}

TEST_F(Views, explain_tells_of_other_processes) {
  const auto explains = [](const Buffer& buffer, const char* part) {
    return explain(buffer).find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      explains(buffer_, "shared by 1 owner and by other processes: a write copies the pages"));
  EXPECT_TRUE(explain(Storage(buffer_)).find("by other processes") != std::string::npos);
  Buffer overlay = buffer_;
  overlay.mutable_data();
  EXPECT_TRUE(explains(overlay, "and by other processes"));
  EXPECT_TRUE(peer_.tell(Order::send));
  {
    Buffer imported = receive(peer_.data[0]);
    EXPECT_TRUE(explains(imported,
                         "imported from another process, with copies from the paged allocator, "
                         "shared by 1 owner: a write copies the pages"));
    imported.mutable_data();
    EXPECT_TRUE(explains(imported,
                         "an overlay of pages of another process, with copies from the paged "
                         "allocator, shared by 1 owner: a write modifies them in place"));
  }
  EXPECT_TRUE(peer_.tell(Order::drop));
  overlay = Buffer();
  EXPECT_TRUE(explains(buffer_, "shared by 1 owner: a write modifies them in place"));
}

TEST_F(Views, a_view_outlives_the_data_in_the_exporter) {
  buffer_ = Buffer();
  const ExportedViews views = collect();
  EXPECT_EQ(views.ended, 1U);
  const Buffer other = filled(three);
  EXPECT_EQ(peer_.tell(Order::read, paged_nbytes - 1), one);
}

TEST_F(Views, a_clone_of_the_importer_keeps_the_view) {
  EXPECT_TRUE(peer_.tell(Order::fork));
  EXPECT_TRUE(peer_.tell(Order::drop));
  EXPECT_EQ(collect().remaining, 1U);
  peer_.data.close(0);
  EXPECT_EQ(collect(Wait::allowed).remaining, 0U);
}

TEST_F(Views, an_exporter_that_forks_leaves_the_view_as_it_was) {
  in_a_child([this] {
    EXPECT_TRUE(is_all(buffer_, one));
    buffer_.mutable_data()[7] = two;
    EXPECT_EQ(peer_.tell(Order::read, 7), one);
  });
  buffer_.mutable_data()[7] = three;
  EXPECT_EQ(peer_.tell(Order::read, 7), one);
  EXPECT_EQ(buffer_.data()[8], one);
}

TEST_F(Views, a_forked_child_exports_what_it_reads) {
  in_a_child([this] {
    buffer_.mutable_data()[7] = two;
    send(peer_.data[0], buffer_);
    EXPECT_TRUE(peer_.tell(Order::receive));
    EXPECT_EQ(peer_.tell(Order::read, 7), two);
    EXPECT_EQ(peer_.tell(Order::read, 8), one);
    EXPECT_EQ(export_pages(buffer_).copied_nbytes(), system::actual_page_nbytes());
    EXPECT_NE(buffer_.materialize(), Materialized::overlaid);
    EXPECT_EQ(collect(Wait::allowed).remaining, 0U);
  });
  EXPECT_EQ(buffer_.data()[7], one);
  buffer_.mutable_data()[9] = three;
  EXPECT_EQ(peer_.tell(Order::read, 9), one);
  send(peer_.data[0], buffer_);
  EXPECT_TRUE(peer_.tell(Order::receive));
  EXPECT_EQ(peer_.tell(Order::read, 9), three);
  EXPECT_EQ(peer_.tell(Order::read, 7), one);
}

/// The system refuses the child a private mapping, so the child copies the pages.
TEST_F(Views, a_child_with_copies_exports_its_copies) {
  in_a_child([] {
    Buffer late = filled(one);
    WatchedSystem system;
    system.refuse_maps(1);
    in_a_child([&] {
      late.mutable_data()[5] = two;
      const ExportedPages exported = export_pages(late);
      EXPECT_EQ(import_pages(exported.message(), exported.descriptors()).data()[5], two);
    });
    EXPECT_EQ(late.data()[5], one);
  });
}

/// Other code closed the descriptor, so the system cannot be asked.
TEST_F(Views, without_the_descriptor_a_view_is_assumed) {
  in_a_child([] {
    Buffer late = filled(one);
    const Buffer view = [&] {
      const ExportedPages exported = export_pages(late);
      return import_pages(exported.message(), exported.descriptors());
    }();
    for (int number = 3; number < 1100; ++number) {
      ::close(number);
    }
    late.mutable_data()[5] = two;
    EXPECT_EQ(view.data()[5], one);
  });
}

TEST_F(Views, a_descriptor_in_a_message_is_a_view) {
  EXPECT_TRUE(peer_.tell(Order::drop));
  send(peer_.data[0], buffer_);
  EXPECT_EQ(collect().remaining, 1U);
  EXPECT_EQ(buffer_.materialize(), Materialized::overlaid);
  peer_.kill();
  EXPECT_EQ(collect().remaining, 0U);
}

TEST_F(Views, an_exported_object_is_a_view) {
  EXPECT_TRUE(peer_.tell(Order::drop));
  {
    const ExportedPages exported = export_pages(buffer_);
    EXPECT_FALSE(buffer_.is_unique());
    EXPECT_EQ(collect().remaining, 1U);
  }
  EXPECT_EQ(buffer_.materialize(), Materialized::stole);
}

TEST_F(Views, a_resize_notices_the_end_of_a_view) {
  EXPECT_THROW(buffer_.resize(paged_nbytes / 2), NotUnique);
  EXPECT_TRUE(peer_.tell(Order::drop));
  buffer_.resize(paged_nbytes / 2);
  EXPECT_EQ(buffer_.nbytes(), paged_nbytes / 2);
}

TEST_F(Views, a_writable_clone_after_the_views_copies_nothing) {
  EXPECT_TRUE(peer_.tell(Order::drop));
  const auto before = stats::snapshot();
  std::byte* const data = buffer_.mutable_data();
  Buffer clone = buffer_.writable_clone();
  data[1] = two;
  clone.mutable_data()[2] = three;
  EXPECT_EQ((stats::snapshot() - before).bytes_copied, 0);
  EXPECT_EQ(buffer_.data(), data);
  EXPECT_EQ(buffer_.data()[1], two);
  EXPECT_EQ(buffer_.data()[2], one);
  EXPECT_EQ(clone.data()[1], one);
}

TEST_F(Views, a_writable_clone_with_a_view_leaves_the_view) {
  Buffer clone = buffer_.writable_clone();
  buffer_.mutable_data()[1] = two;
  clone.mutable_data()[2] = three;
  send(peer_.data[0], buffer_);
  EXPECT_EQ(peer_.tell(Order::read, 1), one);
  EXPECT_TRUE(peer_.tell(Order::receive));
  EXPECT_EQ(peer_.tell(Order::read, 1), two);
  EXPECT_EQ(peer_.tell(Order::read, 2), one);
}

/// How many pages were written in an overlay.
std::size_t written_pages(const Buffer& overlay) {
  return detail::count_written_pages(overlay.data(), overlay.nbytes()) /
         system::actual_page_nbytes();
}

TEST_F(Views, the_last_overlay_writes_back_once_the_views_ended) {
  for (const bool is_writable_clone : {false, true}) {
    Peer peer;
    Buffer overlay = filled(one);
    send(peer.data[0], overlay);
    EXPECT_TRUE(peer.tell(Order::receive));
    overlay.mutable_data()[5] = two;
    const auto clone = [&] {
      Buffer made = is_writable_clone ? overlay.writable_clone() : overlay;
      made.mutable_data()[6] = three;
      EXPECT_EQ(made.data()[5], two);
    };
    clone();
    EXPECT_EQ(written_pages(overlay), 1U);  // a page of the file that the peer reads is not written
    EXPECT_EQ(peer.tell(Order::read, 5), one);
    EXPECT_TRUE(peer.tell(Order::drop));
    clone();
    EXPECT_EQ(written_pages(overlay), 0U);
    EXPECT_EQ(overlay.data()[5], two);
    EXPECT_EQ(overlay.data()[6], one);
  }
}

/// The system moves no mapping, and unmaps the target of a move that it refuses.
TEST_F(Views, a_fork_that_cannot_move_mappings_preserves_exported_data) {
  in_a_child([this] {
    Buffer late = filled(two);
    const ExportedPages exported = export_pages(late);
    WatchedSystem system;
    system.moves = false;
    system.unmaps_targets = true;
    in_a_child([&] { EXPECT_TRUE(is_all(late, two)); });
    EXPECT_TRUE(is_all(late, two));
    late.mutable_data()[0] = three;
    EXPECT_EQ(import_pages(exported.message(), exported.descriptors()).data()[0], two);
  });
}

/// The ways in which an importer ends.
class Ends : public Views, public testing::WithParamInterface<Order> {
 protected:
  Ends() {
    EXPECT_TRUE(peer_.tell(Order::write, 100, two));
    EXPECT_EQ(collect().remaining, 1U);
    const bool has_answered = GetParam() != Order::kill && peer_.tell(GetParam());
    EXPECT_EQ(has_answered, GetParam() == Order::drop);
    if (GetParam() != Order::drop && GetParam() != Order::exec) {
      peer_.kill();  // waits for its end
    }
  }
};

TEST_P(Ends, the_next_write_is_in_place) {
  const std::byte* const before = buffer_.data();
  EXPECT_EQ(buffer_.materialize(), Materialized::stole);
  buffer_.mutable_data()[1] = three;
  EXPECT_EQ(buffer_.data(), before);
  EXPECT_EQ(buffer_.data()[100], one);
}

TEST_P(Ends, collect_notices_it) {
  const ExportedViews views = collect();
  EXPECT_EQ(views.ended, 1U);
  EXPECT_EQ(views.remaining, 0U);
  EXPECT_TRUE(buffer_.is_unique());
  EXPECT_EQ(collect().ended, 0U);
  EXPECT_EQ(export_pages(buffer_).copied_nbytes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(InAllWays, Ends,
                         testing::Values(Order::drop, Order::exit, Order::abort, Order::exec,
                                         Order::kill),
                         [](const auto& test) {
                           switch (test.param) {
                             case Order::drop:
                               return "dropped";
                             case Order::exit:
                               return "exited";
                             case Order::abort:
                               return "crashed";
                             case Order::exec:
                               return "executed_another_program";
                             default:
                               return "killed";
                           }
                         });

}  // namespace
}  // namespace byre::test

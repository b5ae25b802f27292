// SPDX-License-Identifier: BSL-1.0
/// Owners of a file of pages send views of it to other processes, which map it privately and may be
/// killed before each of their system calls. No owner may write the file while a view lives, the
/// file must be freed after all owners and views ended, and an owner that is alone then must write
/// in place.
#include "exporters.hpp"

namespace byre::verification {
namespace {

/// An owner writes while a process receives, maps, writes and ends its view.
class OwnersRaceViews : public OwnersBesideView<1> {
 public:
  static constexpr std::string_view cover_points[] = {
      "a write while a view lives", "a write after a view ended", "a write after a kill"};

  OwnersRaceViews() { share_with_process(); }

  void owner() override {
    const bool is_in_place = write(buffers_[0], 7, 8);
    cover(!is_in_place            ? "a write while a view lives"
          : process_.was_killed() ? "a write after a kill"
                                  : "a write after a view ended");
    expect(read_page(buffers_[0]) == 8, "an owner reads what it wrote");
  }
};

/// Two owners export at once. `SecondSends` is false if the second owner's message fails, so that
/// its view ends at once.
template <bool SecondSends>
class ExportsRaceExports : public Exporters<2> {
 public:
  ExportsRaceExports() { share_a_file(); }

  void thread(unsigned index) {
    const View view = export_view(buffers_[index]);
    if (index == 0 || SecondSends) {
      processes_[index].send(view);
    } else {
      close(view);
    }
  }
  void after() {
    drop(buffers_[1]);
    write_beside(processes_[0], buffers_[0]);
    const bool is_read = processes_[1].receive() && processes_[1].map() && processes_[1].read();
    expect(is_read == SecondSends, "a process reads its view");
    finish(processes_[0], processes_[1]);
  }

 private:
  Process processes_[2] = {Process{system_, false}, Process{system_, false}};
};

/// One owner exports again while the first view ends and another owner looks for its end.
class ExportsRaceLooks : public Exporters<2> {
 public:
  static constexpr std::string_view cover_points[] = {"the first copier stays",
                                                      "the first copier ends"};

  ExportsRaceLooks() {
    share_a_file();
    first_.send(export_view(buffers_[0]));
  }

  void thread(unsigned index) {
    if (index == 0) {
      second_.send(export_view(buffers_[0]));
      return;
    }
    first_.kill();
    paged_of(buffers_[1]).look_for_other_processes();
  }
  void on_step(const sync::Site& site, std::uint64_t value) {
    has_ended_ = has_ended_ || (site.name == "exports.set_counted" && value == 0);
  }
  void after() {
    cover(has_ended_ ? "the first copier ends" : "the first copier stays");
    drop(buffers_[1]);
    write_beside(second_, buffers_[0]);
    finish(first_, second_);
  }

 private:
  Process first_{system_, false};
  Process second_{system_, false};
  bool has_ended_ = false;
};

/// One owner exports and drops, another writes twice, and the other process uses the view.
class ExportsRaceWriters : public Exporters<2> {
 public:
  static constexpr unsigned threads = 3;

  ExportsRaceWriters() { share_a_file(); }

  void thread(unsigned index) {
    if (index == 2) {
      static_cast<void>(process_.receive() && process_.map() && process_.end());
    } else if (index == 0) {
      process_.send(export_view(buffers_[0]));
      drop(buffers_[0]);
    } else {
      write(buffers_[1], 7, 8);
      write(buffers_[1], 8, 9);
    }
  }
  void after() { finish(process_); }

 private:
  Process process_{system_};
};

/// The last owner drops the data and collects, while a view lives.
class ViewsOutliveOwners : public OwnersBesideView<1> {
 public:
  static constexpr std::string_view cover_points[] = {"the view outlives the data"};

  ViewsOutliveOwners() { share_with_process(); }

  void owner() override {
    drop(buffers_[0]);
    expect(collect().released == 1, "a view does not keep data that has no owner");
    cover_if(!process_.has_ended(), "the view outlives the data");
  }
};

/// A process sends its view on to another process and ends, while the owner writes.
class ViewsAreSentOn : public Exporters<1> {
 public:
  static constexpr unsigned threads = 3;
  static constexpr std::string_view cover_points[] = {
      "a write in place", "a write while only the third process has a view"};

  ViewsAreSentOn() {
    share_a_file();
    middle_.send(export_view(buffers_[0]));
  }

  void thread(unsigned index) {
    if (index == 0) {
      const bool is_in_place = write(buffers_[0], 7, 8);
      cover_if(is_in_place, "a write in place");
      cover_if(!is_in_place && only_last_had_one_,
               "a write while only the third process has a view");
    } else if (index == 1) {
      static_cast<void>(middle_.receive() && middle_.map() && middle_.send_on(last_) &&
                        middle_.end());
    } else {
      static_cast<void>(last_.receive() && last_.map() && last_.end());
    }
  }
  void on_step(const sync::Site& site, std::uint64_t) {
    if (site.name == "system.is_open_elsewhere") {
      only_last_had_one_ = middle_.has_ended() && last_.has_view();
    }
  }
  void after() { finish(middle_, last_); }

 private:
  Process middle_{system_};
  Process last_{system_};
  bool only_last_had_one_ = false;
};

/// Two threads collect while views of two files live. One of the views ends.
class CollectsRaceCollects : public Exporters<2> {
 public:
  CollectsRaceCollects() {
    for (unsigned index = 0; index < 2; ++index) {
      buffers_[index] = paged_buffer_of(7, files_);
      processes_[index].send(export_view(buffers_[index]));
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      processes_[0].kill();
    }
    ended_[index] = collect().ended;
  }
  void after() {
    expect(ended_[0] + ended_[1] == 1, "the end of a view is noticed once");
    write_beside(processes_[1], buffers_[1]);
    finish(processes_[0], processes_[1]);
  }

 private:
  Process processes_[2] = {Process{system_, false}, Process{system_, false}};
  std::size_t ended_[2] = {};
};

/// One thread collects while another writes and releases data without views, which is next to
/// other data in the list.
class CollectsRaceReleases : public Exporters<2> {
 public:
  static constexpr unsigned threads = 2;

  CollectsRaceReleases() {
    for (CheckedBuffer& buffer : buffers_) {
      buffer = paged_buffer_of(7, files_);
      close(export_view(buffer));
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      buffers_[0].mutable_data();
      drop(buffers_[0]);
    } else {
      collect();
    }
  }
  void after() { finish(); }
};

/// Two threads release data without owners, and one of them then waits for the other.
class BudgetsAwaitReleases : public Exporters<2> {
 public:
  static constexpr std::string_view cover_points[] = {"a thread waits for a release"};

  BudgetsAwaitReleases() {
    files_.release_count = &released_;
    for (CheckedBuffer& buffer : buffers_) {
      buffer = paged_buffer_of(7, files_);
      close(export_view(buffer));
      drop(buffer);
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      collect(1);
      return;
    }
    collect();
    byre::detail::exports<Checked>().await_releases();
    expect(released_.get() == 2, "after the wait, all data is released");
  }
  void on_step(const sync::Site& site, std::uint64_t) {
    cover_if(site.name == "exports.park", "a thread waits for a release");
  }
  void after() { finish(); }

 private:
  Cell released_{0};
};

/// One thread collects while an owner exports a second time, another owner writes, and the first
/// view ends.
class CollectsRaceWritesAndExports : public Exporters<2> {
 public:
  static constexpr unsigned threads = 3;

  CollectsRaceWritesAndExports() {
    share_a_file();
    first_.send(export_view(buffers_[0]));
  }

  void thread(unsigned index) {
    if (index == 0) {
      second_.send(export_view(buffers_[0]));
      drop(buffers_[0]);
    } else if (index == 1) {
      write(buffers_[1], 7, 8);
    } else {
      first_.kill();
      collect();
    }
  }
  void after() {
    static_cast<void>(second_.receive() && second_.map() && second_.read());
    finish(first_, second_);
  }

 private:
  Process first_{system_, false};
  Process second_{system_, false};
};

/// A thread waits until the other process ends, then writes in place.
class CollectsAwaitViews : public OwnersBesideView<1> {
 public:
  static constexpr std::string_view cover_points[] = {"a thread waits for a view"};

  CollectsAwaitViews() { share_with_process(); }

  void owner() override {
    expect(byre::detail::exports<Checked>().await_all().remaining == 0,
           "after a wait no view is left");
    expect(write(buffers_[0], 7, 8), "without views, a single owner writes in place");
  }
  void on_step(const sync::Site& site, std::uint64_t) {
    cover_if(site.name == "system.wake", "a thread waits for a view");
  }
};

/// A thread waits for views while the last owner drops the data, which is then released, and the
/// view goes on.
class WaitsKeepNothing : public Exporters<1> {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"data is released during a wait"};

  WaitsKeepNothing() {
    share_a_file();
    process_.send(export_view(buffers_[0]));
  }

  void thread(unsigned index) {
    if (index == 0) {
      byre::detail::exports<Checked>().await_all();
      return;
    }
    drop(buffers_[0]);
    cover_if(collect().released == 1, "data is released during a wait");
    byre::detail::exports<Checked>().await_releases();
    expect(collect().remaining == 0, "a wait does not keep data that has no owner");
    process_.kill();
  }
  void after() { finish(process_); }

 private:
  Process process_{system_, false};
};

const Scenario* const exports_scenarios[] = {
    scenario<OwnersRaceViews>("owners_race_views",
                              "No owner writes a file in place while another process has a view "
                              "of it, however that process ends: promise 1, I4.",
                              reduced_search),
    scenario<ExportsRaceExports<true>>(
        "exports_race_exports",
        "Two exports at once count one copier, and each view reads the value of its export.",
        reduced_search),
    scenario<ExportsRaceExports<false>>("failing_exports", "An unsent export ends no other export.",
                                        reduced_search),
    scenario<ExportsRaceLooks>("exports_race_looks",
                               "A thread that looks for ended views ends no later view.",
                               reduced_search),
    scenario<ExportsRaceWriters>(
        "exports_race_writers",
        "A view that one owner exports is not changed by the writes of another: promise 1.",
        reduced_search),
    scenario<ViewsOutliveOwners>(
        "views_outlive_owners",
        "A view may outlive all owners, and the owners' process then keeps nothing for it.",
        reduced_search),
    scenario<ViewsAreSentOn>("views_are_sent_on",
                             "A view that a process sent on outlives that process.",
                             reduced_search),
    scenario<CollectsRaceCollects>(
        "collects_race_collects", "Two threads that collect end each copier once.", reduced_search),
    scenario<CollectsRaceReleases>(
        "collects_race_releases",
        "A thread that collects uses no data that another thread releases.", reduced_search),
    scenario<CollectsRaceWritesAndExports>("collects_race_writes_and_exports",
                                           "Threads may collect, write and export at once.", 1,
                                           reduced_search),
    scenario<CollectsAwaitViews>(
        "collects_await_views",
        "A thread that waits for views waits no longer than the other process lives.",
        reduced_search),
    scenario<WaitsKeepNothing>("waits_keep_nothing",
                               "Data without owners is released while a thread waits for its view.",
                               reduced_search),
    scenario<BudgetsAwaitReleases>(
        "budgets_await_releases",
        "A thread can wait for the release of data that another thread has found.", reduced_search),
};

}  // namespace
}  // namespace byre::verification

// SPDX-License-Identifier: BSL-1.0
#include <byre/storage/detail/buffer_impl.hpp>
#include <byre/storage/storage.hpp>

#include "buffers.hpp"

namespace byre::verification {
namespace {

/// Two threads copy and release handles to one storage; who finds itself alone with it, writes.
class HandlesRaceHandles {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {"the last handle writes"};

  HandlesRaceHandles() {
    handles_[0] = Storage(buffer_of(7, memory_));
    handles_[1] = handles_[0];
  }

  void thread(unsigned index) {
    {
      const Storage another = handles_[index];
      expect(read(another) == 7, "a storage is written only by who is alone with it");
    }
    if (index == 1 && handles_[1].handle_count() == 1) {
      cover("the last handle writes");
      cell(handles_[1].mutable_data()).set(8);
    }
    handles_[index] = Storage();
  }

  void after() { expect(memory_.frees() == 1, "the storage is freed once"); }

 private:
  using Storage = basic_storage<Checked>;

  Tracked memory_;
  Storage handles_[threads];
};

/// Two threads release the last two handles.
class LastHandlesRace {
 public:
  static constexpr unsigned threads = 2;

  LastHandlesRace() {
    handles_[0] = basic_storage<Checked>(buffer_of(7, memory_));
    handles_[1] = handles_[0];
  }

  void thread(unsigned index) {
    expect(read(handles_[index]) == 7, "a handle keeps its storage alive");
    handles_[index] = {};
  }

  void after() { expect(memory_.frees() == 1, "the storage is freed once"); }

 private:
  Tracked memory_;
  basic_storage<Checked> handles_[threads];
};

const Scenario* const handles_race_handles_listed[] = {
    scenario<HandlesRaceHandles>("handles_race_handles",
                                 "Handles to one storage may be copied and released on any thread, "
                                 "and a count of one can be acted on."),
    scenario<LastHandlesRace>(
        "last_handles_race", "The last handle destroys the storage once, after all use by others."),
};

}  // namespace

}  // namespace byre::verification

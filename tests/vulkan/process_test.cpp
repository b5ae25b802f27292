// SPDX-License-Identifier: BSL-1.0
/// What ends a device, or is there none: each in a child process, as a process has one device. Its parent has none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <byre/tensor.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "device.hpp"
#include "shaders.hpp"
#include "support/child_process.hpp"
#include "vulkan/device/faults.hpp"

namespace examples::vulkan::test {
namespace {

using byre::test::ChildResult;

/// What `work` says, in a process with these variables, where the validation layer is silent.
ChildResult in_child(const std::vector<std::pair<const char*, const char*>>& environment,
                     const std::function<std::string()>& work) {
  return byre::test::run_in_child(
      [&](int output) {
        byre::test::redirect(STDERR_FILENO, output);
        for (const auto& [name, value] : environment) {
          setenv(name, value, 1);
        }
        byre::test::write_all(output, work());
        if (Gpu* const made = Gpu::get_if_made()) {
          byre::test::write_all(output, made->validation_messages() == 0 ? "" : "; validation");
        }
      },
      std::chrono::seconds(100));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DeviceLost&) {
    return "lost";
  } catch (const VulkanError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "none";
}

std::string error_of_making() {
  return error_of([] { Gpu::get(); });
}

void expect_says(const ChildResult& result, const std::vector<std::string>& parts) {
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text();
  for (const std::string& part : parts) {
    EXPECT_NE(result.output.find(part), std::string::npos) << result.output;
  }
}

TEST(VulkanProcess, says_what_to_do_without_a_driver) {
  expect_says(in_child({{"VK_ICD_FILENAMES", "/nonexistent"}, {"VK_DRIVER_FILES", "/nonexistent"}},
                       error_of_making),
              {"no Vulkan driver was found", "mesa-vulkan-drivers", "VK_ICD_FILENAMES"});
}

TEST(VulkanProcess, tries_again_once_there_is_a_driver) {
  const ChildResult result = in_child({{"VK_ICD_FILENAMES", "/nonexistent"}}, [] {
    const std::string first = error_of_making();
    unsetenv("VK_ICD_FILENAMES");
    return first + " then " + error_of_making();
  });
  expect_says(result, {"no Vulkan driver was found", " then none"});
}

TEST(VulkanProcess, says_which_devices_there_are_where_the_one_asked_for_is_not) {
  for (const char* const asked : {"99", "-1", "first", "0x0", "0 ", "99999999999999"}) {
    expect_says(in_child({{"BYRE_VULKAN_DEVICE", asked}}, error_of_making),
                {std::string("BYRE_VULKAN_DEVICE=") + asked, "names no Vulkan device", "0: "});
  }
  expect_says(in_child({{"BYRE_VULKAN_DEVICE", "0"}}, error_of_making), {"none"});
  expect_says(in_child({{"BYRE_VULKAN_DEVICE", ""}}, error_of_making), {"none"});
}

TEST(VulkanProcess, names_devices_from_0_on_without_a_gap) {
  int devices = 0;
  std::string said;
  for (; said.find("names no Vulkan device") == std::string::npos; ++devices) {
    ASSERT_LT(devices, 100);
    const std::string asked = std::to_string(devices);
    const ChildResult result = in_child({{"BYRE_VULKAN_DEVICE", asked.c_str()}}, error_of_making);
    EXPECT_TRUE(result.exit.is_success()) << asked << ": " << result.exit.text();
    said = result.output;
  }
  EXPECT_NE(said.find(' ' + std::to_string(devices - 2) + ": "), std::string::npos)
      << "the last that is there is in front of the first that is not: " << said;
}

TEST(VulkanProcess, says_how_to_get_the_validation_layer_where_it_is_missing) {
  expect_says(in_child({{"VK_LAYER_PATH", "/nonexistent"}}, error_of_making),
              {"VK_LAYER_KHRONOS_validation is not installed", "vulkan-validationlayers"});
}

/// What the validation layer knows of when a device ends. No program but this ends one: the handles that byre has to it
/// are of no use then.
TEST(VulkanProcess, leaves_nothing_behind_of_a_device_that_ends) {
  const ChildResult result = byre::test::run_in_child(
      [](int output) {
        byre::test::redirect(STDERR_FILENO, output);
        Gpu* const ended = &gpu();
        for (const std::size_t words : {100U, 1U << 18}) {
          byre::Buffer buffer = to_device(counting(words));
          byre::Buffer other = to_device(counting(words));
          gpu().queue().copy(other.mutable_data(), buffer.data(), words * 4);
          Sum()(buffer, counting(100));
          const Add add;
          add(other, 1);
          if (to_host(other) != counting(words, 1)) {
            byre::test::write_all(output, "other words");
          }
          gpu().queue().fill(buffer.mutable_data(), 7, words * 4);
          gpu().queue().submit();  // and nobody waits
        }
        const bool holds_some = gpu().memory().held_nbytes() != 0;
        delete ended;
        byre::test::write_all(output, holds_some ? "ended" : "there was nothing");
      },
      std::chrono::seconds(100));
  expect_says(result, {"ended"});
  EXPECT_EQ(result.output, "ended");
}

TEST(VulkanProcess, puts_parameters_one_after_the_other_to_the_end_of_their_memory) {
  const ChildResult result = in_child({}, [] {
    const Sum sum;
    byre::Buffer buffer = to_device(Words(10, 0));
    const auto allocations = [] { return gpu().queue().stats().recording_allocations; };
    const Words few(64, 1);  // as many bytes as any alignment has
    sum(buffer, few);
    const std::uint64_t before = allocations();
    sum(buffer, Words((std::size_t{64} << 10) / 4 - few.size(), 1));
    std::string said = std::to_string(allocations() - before) + " more, ";
    sum(buffer, few);
    said += std::to_string(allocations() - before) + " more, ";
    return said + std::to_string(to_host(buffer).back());
  });
  expect_says(result, {"0 more, 1 more, 16448"});
}

TEST(VulkanProcess, stages_copies_where_it_is_told_to) {
  const auto maps = [](const char* variable) {
    return in_child({{"BYRE_VULKAN_STAGING", variable}},
                    [] { return std::string(gpu().driver().maps_blocks() ? "maps" : "stages"); })
        .output;
  };
  EXPECT_EQ(maps("1"), "stages");
  EXPECT_EQ(maps("yes"), "stages");
  EXPECT_EQ(maps("0"), maps(""));
}

TEST(VulkanProcess, hears_of_hazards_from_the_validation_layer) {
  const auto depend = [](bool with_barriers) {
    byre::Buffer buffer = to_device(counting(count));
    if (!with_barriers) {
      faults::leave_out_barriers();
    }
    const Queue::OneSubmission one(gpu().queue());
    gpu().queue().fill(buffer.mutable_data(), 1, std::size_t{count} * 4);
    gpu().queue().fill(buffer.mutable_data(), 2, std::size_t{count} * 4);
    return std::to_string(gpu().validation_messages()) + " messages";
  };
  expect_says(in_child({}, [&] { return depend(true); }), {"0 messages"});
  expect_says(in_child({}, [&] { return depend(false); }),
              {"1 messages", "SYNC-HAZARD-WRITE-AFTER-WRITE", "; validation"});
}

TEST(VulkanProcess, registers_the_device_that_tensors_name) {
  const ChildResult result = in_child({}, [] {
    const byre::Device device = Gpu::get().device();
    return std::string(byre::describe(device).chars.data()) + ", " + Gpu::get().description() +
           (&byre::support_of(device) == &Gpu::get() ? ", the same" : "");
  });
  expect_says(result, {"(vulkan)", "Vulkan 1.", ", the same"});
}

/// Some owners, one of which is copied while the device is held back; then the device is lost.
class Losing {
 public:
  void lose(const std::function<void()>& call) {
    queue_.submit();
    faults::fail_submit(1, VK_ERROR_DEVICE_LOST);
    said_ += error_of(call) + ' ';
  }
  void say(const std::string& text) { said_ += text + ' '; }
  const std::string& said() const { return said_; }

 private:
  Queue& queue_ = gpu().queue();
  std::string said_;
};

TEST(VulkanProcess, that_lost_its_device_says_so_from_then_on_and_has_what_is_on_the_host) {
  const auto lose = [] {
    const Words words = counting(1000);
    Losing losing;
    const Add add;
    byre::Buffer buffer = to_device(words);
    std::byte* const data = buffer.mutable_data();
    byre::Buffer clone = buffer.lazy_clone();
    Words read(1000, 7);
    losing.lose([&] { clone.mutable_data(); });
    losing.say(error_of([&] { gpu().queue().download(read.data(), buffer.data(), 4000); }));
    losing.say(error_of([&] { gpu().queue().upload(data, words.data(), 4000); }));
    losing.say(error_of([&] { gpu().queue().submit(); }));
    losing.say(error_of([&] { gpu().queue().wait_idle(); }));
    losing.say(error_of([&] { gpu().queue().fill(data, 0, 4000); }));
    losing.say(error_of([&] { gpu().queue().copy(data, data + 2000, 2000); }));
    losing.say(error_of([&] { add(data, data, 1000, 1); }));
    losing.say(error_of([&] { clone.mutable_data(); }));
    losing.say(error_of([&] { Queue::OneSubmission(gpu().queue()).submit(); }));
    losing.say(error_of([&] { const Queue::Hold hold(gpu().queue()); }));
    losing.say(error_of([&] { gpu().queue().wait(0); }));
    gpu().queue().poll();
    losing.say(read == Words(1000, 7) && words == counting(1000) ? "host as it was" : "changed");
    losing.say(std::to_string(buffer.use_count()) + " owners");
    buffer = {};
    clone = {};
    losing.say(std::to_string(gpu().memory().live_nbytes()) + " bytes live");
    return losing.said();
  };
  for (const char* const stages : {"0", "1"}) {
    const ChildResult result = in_child({{"BYRE_VULKAN_STAGING", stages}}, lose);
    expect_says(result,
                {"lost lost lost lost lost lost lost lost lost lost lost lost host as it was "
                 "2 owners 0 bytes live"});
    EXPECT_EQ(result.output.find("; validation"), std::string::npos) << result.output;
  }
}

TEST(VulkanProcess, uploads_what_is_large_first) {
  const ChildResult result = in_child({{"BYRE_VULKAN_STAGING", "1"}}, [] {
    const Words words = counting((4U << 20) + 5);
    return to_host(to_device(words)) == words ? std::string("all of it") : "something else";
  });
  expect_says(result, {"all of it"});
}

TEST(VulkanProcess, that_lost_its_device_ends_the_copies_under_way) {
  const ChildResult result = in_child({}, [] {
    Losing losing;
    byre::Buffer buffer = to_device(counting(1000));
    byre::Buffer clone = buffer.lazy_clone();
    const Queue::Hold hold(gpu().queue());
    clone.mutable_data();
    losing.say(buffer.is_unique() ? "early" : "under way");
    gpu().queue().fill(clone.mutable_data(), 1, 4000);
    faults::fail_submit(1, VK_ERROR_DEVICE_LOST);
    losing.say(error_of([] { gpu().queue().submit(); }));
    losing.say(buffer.is_unique() ? "ended" : "not ended");
    return losing.said();
  });
  expect_says(result, {"under way lost ended"});
}

TEST(VulkanProcess, that_lost_its_device_gives_its_memory_back) {
  const ChildResult result = in_child({}, [] {
    Losing losing;
    DeviceMemory& memory = gpu().memory();
    byre::Buffer released = to_device(counting(1U << 20));
    byre::Buffer kept = to_device(counting(1U << 20));
    gpu().queue().wait_idle();
    const Queue::Hold hold(gpu().queue());
    for (byre::Buffer* const used : {&released, &kept}) {
      gpu().queue().fill(used->mutable_data(), 1, 4000);
    }
    const std::uint64_t value = gpu().queue().submit();
    released = {};
    memory.trim();
    losing.say(memory.allocations() == 2 ? "both there" : "too early");
    gpu().queue().fill(kept.mutable_data(), 1, 4000);
    faults::fail_submit(1, VK_ERROR_DEVICE_LOST);
    losing.say(error_of([] { gpu().queue().submit(); }));
    losing.say(gpu().queue().has_passed(value + 1) ? "nothing to come" : "something to come");
    losing.say(std::to_string(memory.allocations()) + " there");
    kept = {};
    memory.trim();
    losing.say(std::to_string(memory.allocations()) + " there");
    return losing.said();
  });
  expect_says(result, {"both there lost nothing to come 1 there 0 there"});
}

TEST(VulkanProcess, that_is_a_child_of_one_with_a_device_has_none) {
  const ChildResult result = in_child({}, [] {
    byre::Buffer buffer = to_device(counting(1000));
    byre::Buffer clone = buffer.lazy_clone();
    gpu().queue().submit();
    const ChildResult child = byre::test::run_in_child(
        [&](int output) {
          byre::test::write_all(output, error_of([&] { clone.mutable_data(); }));
          byre::test::write_all(output, error_of([&] { to_host(buffer); }));
          buffer = {};
          clone = {};
          byre::test::write_all(output, " and lets go of what it had");
        },
        std::chrono::seconds(20));
    gpu().queue().fill(clone.mutable_data(), 7, 4000);
    const bool is_well = to_host(clone) == Words(1000, 7) && to_host(buffer) == counting(1000);
    return child.output + (is_well ? ", all is well here" : ", the parent is not well");
  });
  expect_says(result, {"this is a child of it", "Move tensors to the host before fork()",
                       "and lets go of what it had, all is well here"});
}

TEST(VulkanProcess, that_loses_its_device_within_one_submission_is_told_by_the_next_call) {
  const ChildResult result = in_child({}, [] {
    byre::Buffer buffer = to_device(counting(1000));
    gpu().queue().submit();
    faults::fail_submit(1, VK_ERROR_DEVICE_LOST);
    {
      const Queue::OneSubmission one(gpu().queue());
      gpu().queue().fill(buffer.mutable_data(), 1, 4000);
    }
    return error_of([&] { to_host(buffer); });
  });
  expect_says(result, {"lost"});
}

TEST(VulkanProcess, has_the_tensor_on_the_host_that_could_not_be_moved) {
  const ChildResult result = in_child({}, [] {
    const byre::Tensor host = byre::Tensor::of<std::int32_t>({3}, {1, 2, 3});
    byre::Tensor there = host.to(gpu().device());
    gpu().queue().fill(there.mutable_data<std::int32_t>(), 1, 4);
    faults::fail_submit(1, VK_ERROR_DEVICE_LOST);
    std::string said = error_of([&] { there.to(byre::Device::cpu()); });
    said += ' ' + error_of([&] { host.to(gpu().device()); });
    return said + ' ' + std::to_string(host.at<std::int32_t>({2}));
  });
  expect_says(result, {"lost lost 3"});
}

}  // namespace
}  // namespace examples::vulkan::test

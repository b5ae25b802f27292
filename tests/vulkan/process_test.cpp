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

TEST(VulkanProcess, says_how_to_get_the_validation_layer_where_it_is_missing) {
  expect_says(in_child({{"VK_LAYER_PATH", "/nonexistent"}}, error_of_making),
              {"VK_LAYER_KHRONOS_validation is not installed", "vulkan-validationlayers"});
}

/// The validation layer reports what is left when a device ends. No other test ends one: byre's handles to it are of no
/// use then.
TEST(VulkanProcess, leaves_nothing_behind_of_a_device_that_ends) {
  const ChildResult result = byre::test::run_in_child(
      [](int output) {
        byre::test::redirect(STDERR_FILENO, output);
        Gpu* const ended = &Gpu::get();
        for (const std::size_t words : {std::size_t{100}, many}) {
          byre::Buffer buffer = to_device(counting(words));
          byre::Buffer other = to_device(counting(words));
          queue().copy(other.mutable_data(), buffer.data(), words * 4);
          const Add add;
          add(other, 1);
          if (to_host(other) != counting(words, 1)) {
            byre::test::write_all(output, "other words");
          }
          queue().copy(other.mutable_data(), buffer.data(), words * 4);
          queue().submit();  // and the host does not wait
        }
        const bool holds_some = memory().stats().held_nbytes != 0;
        delete ended;
        byre::test::write_all(output, holds_some ? "ended" : "there was nothing");
      },
      std::chrono::seconds(100));
  expect_says(result, {"ended"});
  EXPECT_EQ(result.output, "ended");
}

TEST(VulkanProcess, stages_copies_if_it_is_told_to) {
  const auto maps = [](const char* variable) {
    return in_child(
               {{"BYRE_VULKAN_STAGING", variable}},
               [] { return std::string(Gpu::get().driver().maps_blocks() ? "maps" : "stages"); })
        .output;
  };
  EXPECT_EQ(maps("1"), "stages");
  EXPECT_EQ(maps("yes"), "stages");
  EXPECT_EQ(maps("0"), maps(""));
}

TEST(VulkanProcess, hears_of_hazards_from_the_validation_layer) {
  const auto depend = [](bool with_barriers) {
    byre::Buffer to = to_device(counting(count));
    const byre::Buffer from = to_device(counting(count));
    faults::leave_out_barriers = !with_barriers;
    for (int i = 0; i != 2; ++i) {
      queue().copy(to.mutable_data(), from.data(), count * 4UL);
    }
    queue().submit();
    return std::to_string(Gpu::get().validation_messages()) + " messages";
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

/// Has the device be lost in `call`. Returns the error.
std::string lose(const std::function<void()>& call) {
  faults::submit.fail(1, VK_ERROR_DEVICE_LOST);
  return error_of(call) + ' ';
}

TEST(VulkanProcess, that_lost_its_device_says_so_from_then_on_and_has_what_is_on_the_host) {
  const auto work = [] {
    const Words words = counting(1000);
    const Add add;
    byre::Buffer buffer = to_device(words);
    std::byte* const data = buffer.mutable_data();
    byre::Buffer clone = buffer.lazy_clone();
    Words read(1000, 7);
    std::string said = lose([&] { clone.mutable_data(); });
    const std::function<void()> calls[] = {
        [&] { queue().download(read.data(), buffer.data(), 4000); },
        [&] { queue().upload(data, words.data(), 4000); },
        [&] { queue().submit(); },
        [&] { queue().wait_idle(); },
        [&] { queue().wait(0); },
        [&] { queue().copy(data, data + 2000, 2000); },
        [&] { add(data, data, 1000, {1}); },
        [&] { clone.mutable_data(); },
        [&] { const Queue::Hold hold(queue()); },
    };
    for (const std::function<void()>& call : calls) {
      said += error_of(call) + ' ';
    }
    queue().poll();
    said += read == Words(1000, 7) && words == counting(1000) ? "host as it was " : "changed ";
    said += std::to_string(buffer.use_count()) + " owners ";
    buffer = {};
    clone = {};
    return said + std::to_string(memory().stats().live_nbytes) + " bytes live";
  };
  for (const char* const stages : {"0", "1"}) {
    const ChildResult result = in_child({{"BYRE_VULKAN_STAGING", stages}}, work);
    expect_says(
        result,
        {"lost lost lost lost lost lost lost lost lost lost host as it was 2 owners 0 bytes live"});
    EXPECT_EQ(result.output.find("; validation"), std::string::npos) << result.output;
  }
}

TEST(VulkanProcess, that_lost_its_device_ends_copies_under_way_and_gives_memory_back) {
  const ChildResult result = in_child({}, [] {
    byre::Buffer original = to_device(counting(many));
    byre::Buffer clone = original.lazy_clone();
    byre::Buffer released = to_device(counting(many));
    const Add add;
    queue().wait_idle();
    memory().trim();
    const std::size_t before = memory().stats().allocations;
    const Queue::Hold hold(queue());
    add(released, 1);
    clone.mutable_data();
    const std::uint64_t value = queue().submit();
    std::string said = original.is_unique() ? "early " : "under way ";
    released = {};
    memory().trim();
    said += std::to_string(memory().stats().allocations - before) + " more, ";
    add(clone, 1);
    said += lose([] { queue().submit(); });
    said += original.is_unique() ? "ended " : "not ended ";
    said += queue().has_passed(value + 1) ? "nothing to come, " : "something to come, ";
    original = {};
    clone = {};
    memory().trim();
    return said + std::to_string(before - memory().stats().allocations) + " fewer";
  });
  expect_says(result, {"under way 1 more, lost ended nothing to come, 2 fewer"});
}

TEST(VulkanProcess, that_loses_its_device_with_a_full_command_buffer_is_told_by_the_next_call) {
  const ChildResult result = in_child({}, [] {
    byre::Buffer buffer = to_device(counting(1000));
    const Add add;
    queue().submit();
    faults::submit.fail(1, VK_ERROR_DEVICE_LOST);
    for (unsigned i = 0; i != Commands::most; ++i) {
      add(buffer, 1);
    }
    return error_of([&] { to_host(buffer); });
  });
  expect_says(result, {"lost"});
}

TEST(VulkanProcess, has_the_tensor_on_the_host_that_could_not_be_moved) {
  const ChildResult result = in_child({}, [] {
    const byre::Tensor host = byre::Tensor::of<std::int32_t>({3}, {1, 2, 3});
    byre::Tensor there = host.to(Gpu::get().device());
    const Add add;
    auto* const data = there.mutable_data<std::int32_t>();
    add(data, data, 3, {1});
    faults::submit.fail(1, VK_ERROR_DEVICE_LOST);
    std::string said = error_of([&] { there.to(byre::Device::cpu()); });
    said += ' ' + error_of([&] { host.to(Gpu::get().device()); });
    return said + ' ' + std::to_string(host.at<std::int32_t>({2}));
  });
  expect_says(result, {"lost lost 3"});
}

TEST(VulkanProcess, that_is_a_child_of_one_with_a_device_has_none) {
  const ChildResult result = in_child({}, [] {
    byre::Buffer buffer = to_device(counting(1000));
    byre::Buffer clone = buffer.lazy_clone();
    const Add add;
    queue().submit();
    const ChildResult child = byre::test::run_in_child(
        [&](int output) {
          byre::test::write_all(output, error_of([&] { clone.mutable_data(); }));
          byre::test::write_all(output, error_of([&] { to_host(buffer); }));
          buffer = {};
          clone = {};
          byre::test::write_all(output, " and lets go of what it had");
        },
        std::chrono::seconds(20));
    add(clone, 7);
    const bool is_well = to_host(clone) == counting(1000, 7) && to_host(buffer) == counting(1000);
    return child.output + (is_well ? ", all is well here" : ", the parent is not well");
  });
  expect_says(result, {"this is a child of it", "Move tensors to the host before fork()",
                       "and lets go of what it had, all is well here"});
}

}  // namespace
}  // namespace examples::vulkan::test

// SPDX-License-Identifier: BSL-1.0
/// Devices that are missing, lost, or created by the parent process. Each test runs in a child
/// process, because a process has one device. The parent process creates none.
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

using Environment = std::vector<std::pair<const char*, const char*>>;

/// Runs `work` in a process with these environment variables, and expects each of `parts` in its
/// output. The output is its stderr and the text that `work` returns, followed by ";", or by ";
/// validation" if the validation layer printed a message.
void expect_says(const std::vector<std::string>& parts, const Environment& environment,
                 const std::function<std::string()>& work) {
  const byre::test::ChildResult result = byre::test::run_in_child(
      [&](int output) {
        byre::test::redirect(STDERR_FILENO, output);
        for (const auto& [name, value] : environment) {
          setenv(name, value, 1);
        }
        byre::test::write_all(output, work());
        Gpu* const made = Gpu::get_if_made();
        byre::test::write_all(output, made != nullptr && made->driver().validation_messages != 0
                                          ? "; validation"
                                          : ";");
      },
      std::chrono::seconds(100));
  EXPECT_TRUE(result.exit.is_success()) << result.exit.text();
  for (const std::string& part : parts) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << ":\n" << result.output;
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DeviceLost&) {
    return "lost ";
  } catch (const VulkanError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "none ";
}

std::string error_of_making() {
  return error_of([] { Gpu::get(); });
}

TEST(VulkanProcess, without_the_requested_device_or_layer_gets_advice) {
  const char* const none = "/nonexistent";
  struct Case {
    Environment environment;
    std::vector<std::string> parts;
  };
  std::vector<Case> cases{
      {{{"VK_ICD_FILENAMES", none}, {"VK_DRIVER_FILES", none}},
       {"no Vulkan driver was found", "mesa-vulkan-drivers", "VK_ICD_FILENAMES"}},
      {{{"VK_LAYER_PATH", none}},
       {"VK_LAYER_KHRONOS_validation is not installed", "vulkan-validationlayers"}},
      {{{"BYRE_VULKAN_DEVICE", "0"}}, {"none ;"}},
      {{{"BYRE_VULKAN_DEVICE", ""}}, {"none ;"}}};
  for (const char* const asked : {"99", "-1", "first", "0x0", "0 ", "99999999999999"}) {
    cases.push_back(
        {{{"BYRE_VULKAN_DEVICE", asked}},
         {std::string("BYRE_VULKAN_DEVICE=") + asked + " is not the number of a Vulkan device",
          "0: "}});
  }
  for (const auto& [environment, parts] : cases) {
    expect_says(parts, environment, error_of_making);
  }
  expect_says({"no Vulkan driver was found", " then none ;"}, {{"VK_ICD_FILENAMES", none}}, [] {
    const std::string first = error_of_making();
    unsetenv("VK_ICD_FILENAMES");
    return first + " then " + error_of_making();
  });
}

TEST(VulkanProcess, registers_its_device_for_tensors) {
  expect_says({"(vulkan), ", "Vulkan 1.", ", registered;"}, {}, [] {
    const byre::Device device = Gpu::get().device();
    return std::string(byre::describe(device).chars.data()) + ", " +
           Gpu::get().driver().description +
           (&byre::support_of(device) == &Gpu::get() ? ", registered" : "");
  });
}

/// The validation layer reports objects that still exist when a device is destroyed. No other test
/// destroys its device, because byre's references to the device are invalid afterwards.
TEST(VulkanProcess, destroys_all_objects_of_its_device) {
  const byre::test::ChildResult result = byre::test::run_in_child(
      [](int output) {
        byre::test::redirect(STDERR_FILENO, output);
        Gpu* const ended = &Gpu::get();
        for (const std::size_t words : {std::size_t{100}, many}) {
          byre::Buffer buffer = to_device(counting(words));
          byre::Buffer other = to_device(counting(words));
          const Add add;
          add(other, 1);
          if (to_host(other) != counting(words, 1)) {
            byre::test::write_all(output, "other words");
          }
          queue().copy(other.mutable_data(), buffer.data(), words * 4);
          queue().submit();  // without waiting
        }
        const bool holds_some = memory().stats().held_nbytes != 0;
        delete ended;
        byre::test::write_all(output, holds_some ? "ended" : "no memory was held");
      },
      std::chrono::seconds(100));
  EXPECT_EQ(result.output, "ended") << result.exit.text();
}

TEST(VulkanProcess, gets_reports_of_hazards_from_the_validation_layer) {
  for (const bool has_barriers : {true, false}) {
    const std::vector<std::string> without{"1 messages", "SYNC-HAZARD-WRITE-AFTER-WRITE",
                                           "; validation"};
    expect_says(has_barriers ? std::vector<std::string>{"0 messages;"} : without, {}, [=] {
      byre::Buffer to = to_device(counting(count));
      const byre::Buffer from = to_device(counting(count));
      queue().wait_idle();
      faults::leave_out_barriers = !has_barriers;
      for (int i = 0; i != 2; ++i) {
        queue().copy(to.mutable_data(), from.data(), count * 4UL);
      }
      queue().submit();
      return std::to_string(Gpu::get().driver().validation_messages) + " messages";
    });
  }
}

/// Runs `call`, in which the device is lost, and returns the error.
std::string lose(const std::function<void()>& call) {
  faults::submit.fail(VK_ERROR_DEVICE_LOST);
  return error_of(call);
}

TEST(VulkanProcess, that_lost_its_device_gets_errors_and_keeps_host_data) {
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
        [&] { queue().wait(0); },
        [&] { queue().wait_idle(); },
        [&] { queue().copy(data, data + 2000, 2000); },
        [&] { add(data, data, 1000, {1}); },
        [&] { clone.mutable_data(); },
        [&] { const Queue::Hold hold(queue()); }};
    for (const std::function<void()>& call : calls) {
      said += error_of(call);
    }
    queue().poll();
    said += read == Words(1000, 7) && words == counting(1000) ? "host unchanged " : "changed ";
    said += std::to_string(buffer.use_count()) + " owners ";
    buffer = {};
    clone = {};
    return said + std::to_string(memory().stats().live_nbytes) + " bytes live";
  };
  expect_says(
      {"lost lost lost lost lost lost lost lost lost lost host unchanged 2 owners 0 bytes live;"},
      {}, work);
}

TEST(VulkanProcess, that_lost_its_device_ends_copies_and_returns_memory) {
  expect_says({"under way 1 more, lost ended all passed, 2 fewer;"}, {}, [] {
    byre::Buffer original = to_device(counting(many));
    byre::Buffer clone = original.lazy_clone();
    byre::Buffer released = to_device(counting(many));
    const Add add;
    queue().wait_idle();
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
    said += queue().has_passed(value + 1) ? "all passed, " : "not all passed, ";
    original = {};
    clone = {};
    memory().trim();
    return said + std::to_string(before - memory().stats().allocations) + " fewer";
  });
}

TEST(VulkanProcess, with_an_unreported_device_loss_gets_an_error_later) {
  expect_says({"lost 1 lost lost 3;"}, {}, [] {
    byre::Buffer buffer = to_device(counting(1000));
    const byre::Tensor host = byre::Tensor::of<std::int32_t>({3}, {1, 2, 3});
    byre::Tensor there = host.to(Gpu::get().device());
    const Add add;
    queue().submit();
    faults::submit.fail(VK_ERROR_DEVICE_LOST);
    for (unsigned i = 0; i != Commands::most; ++i) {
      add(buffer, 1);
    }
    std::string said =
        error_of([&] { to_host(buffer); }) + std::to_string(host.at<std::int32_t>({0})) + ' ';
    said += error_of([&] { there.to(byre::Device::cpu()); });
    said += error_of([&] { host.to(Gpu::get().device()); });
    return said + std::to_string(host.at<std::int32_t>({2}));
  });
}

TEST(VulkanProcess, cannot_use_a_device_of_its_parent) {
  const auto work = [] {
    byre::Buffer buffer = to_device(counting(1000));
    byre::Buffer clone = buffer.lazy_clone();
    const Add add;
    queue().submit();
    const auto in_child = [&](int output) {
      byre::test::write_all(output, error_of([&] { clone.mutable_data(); }));
      byre::test::write_all(output, error_of([&] { to_host(buffer); }));
      buffer = {};
      clone = {};
      byre::test::write_all(output, " and releases its buffers");
    };
    const byre::test::ChildResult child =
        byre::test::run_in_child(in_child, std::chrono::seconds(20));
    add(clone, 7);
    const bool is_well = to_host(clone) == counting(1000, 7) && to_host(buffer) == counting(1000);
    return child.output + (is_well ? ", parent unchanged" : ", parent changed");
  };
  expect_says({"in a child of it", "Move tensors to the host before fork()",
               "and releases its buffers, parent unchanged;"},
              {}, work);
}

}  // namespace
}  // namespace examples::vulkan::test

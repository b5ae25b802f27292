// SPDX-License-Identifier: BSL-1.0
/// A device whose memory the host cannot make sense of: every byte is stored inverted. Who reads or
/// writes it but through the device gets it wrong.
#pragma once

#include <byre/tensor/devices.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace byre::test {

inline constexpr byre::Device inverting_device{7, 0};

class InvertingDevice final : public byre::DeviceSupport {
 public:
  /// Registered when first asked for.
  static InvertingDevice& instance() {
    static InvertingDevice& device = *[] {
      auto* const made = new InvertingDevice;
      byre::register_device(inverting_device, *made);
      return made;
    }();
    return device;
  }

  byre::Allocator& allocator() noexcept override { return memory_; }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    invert(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    invert(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "inverting"; }

 private:
  class Memory final : public byre::Allocator {
   public:
    Memory() : Allocator(inverting_device) {}
    byre::Block allocate(const byre::Request& request) override {
      const std::size_t nbytes = request.nbytes == 0 ? 1 : request.nbytes;
      void* const place = ::operator new (nbytes, std::align_val_t{byre::data_alignment});
      return {place, request.nbytes, place};
    }
    void deallocate(const byre::Block& block) noexcept override {
      ::operator delete (block.base, std::align_val_t{byre::data_alignment});
    }
    const char* name() const noexcept override { return "inverted memory"; }
  };

  static void invert(void* destination, const void* source, std::size_t nbytes) {
    for (std::size_t i = 0; i < nbytes; ++i) {
      static_cast<std::byte*>(destination)[i] = ~static_cast<const std::byte*>(source)[i];
    }
  }

  Memory memory_;
};

}  // namespace byre::test

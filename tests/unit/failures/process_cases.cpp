// SPDX-License-Identifier: BSL-1.0
// Cases of data in other processes.
#include <byre/interop/tensor_transfer.hpp>
#include <byre/ipc/send.hpp>
#include <byre/pages/paged_allocator.hpp>

#include <cstring>

#include "../ipc/peer.hpp"
#include "../storage/text.hpp"
#include "cases.hpp"

namespace byre::test {
namespace process_table {

constexpr std::size_t nbytes = std::size_t{1} << 20;

/// An overlay with a written page.
Buffer written() {
  Buffer base = Buffer::allocate(nbytes, paged_allocator());
  std::memset(base.mutable_data(), 'b', nbytes);
  Buffer overlay = base;
  overlay.mutable_data()[7] = std::byte{'w'};
  return overlay;
}

std::string part_of(const std::byte* data) {
  return std::string(reinterpret_cast<const char*>(data), 9);
}
std::string text_of(const Buffer& buffer) {
  return part_of(buffer.data());
}
std::string text_of(const Storage& storage) {
  return part_of(storage.data());
}
std::string text_of(const TiledBuffer& tiles) {
  return part_of(tiles.tile(0).data());
}
std::string text_of(const Tensor& tensor) {
  return part_of(static_cast<const std::byte*>(tensor.raw_data()));
}

template <class Data>
Data data() {
  if constexpr (std::is_same_v<Data, TiledBuffer>) {
    TiledBuffer tiles(3000, default_allocator(), 1000);
    tiles.write(0, std::vector(3000, std::byte{'t'}));
    return tiles;
  } else if constexpr (std::is_same_v<Data, Tensor>) {
    return Tensor::over(Storage(written()), {nbytes}, DType::u8);
  } else {
    return Data(written());
  }
}

template <class Data>
void import_and_export(Attempt& attempt) {
  const Data source = data<Data>();
  std::string result;
  attempt(
      [&] {
        const ExportedPages exported = export_pages(source);
        result = text_of(import_pages<Data>(exported.message(), exported.descriptors()));
      },
      [&] { return text_of(source) + result; });
}

template <class Data>
void send_and_receive(Attempt& attempt) {
  const Data source = data<Data>();
  std::string result;
  attempt(
      [&] {
        const SocketPair sockets;
        send(sockets[0], source);
        result = text_of(receive<Data>(sockets[1]));
      },
      [&] { return text_of(source) + result; });
}

constexpr Case cases[] = {
    {"export_pages", &import_and_export<Buffer>},
    {"export_pages", &import_and_export<Storage>},
    {"export_pages", &import_and_export<TiledBuffer>},
    {"import_pages", &import_and_export<Tensor>},
    {"send", &send_and_receive<Buffer>},
    {"send", &send_and_receive<Storage>},
    {"receive", &send_and_receive<TiledBuffer>},
    {"receive", &send_and_receive<Tensor>},
};

}  // namespace process_table

std::span<const Case> process_cases() {
  return process_table::cases;
}

}  // namespace byre::test

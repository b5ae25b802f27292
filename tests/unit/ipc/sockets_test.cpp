// SPDX-License-Identifier: BSL-1.0
/// Sockets of all types, and sockets that fail.
#include <byre/ipc/send.hpp>

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../pages/children.hpp"
#include "../pages/paged_buffers.hpp"
#include "changed_messages.hpp"
#include "patterns.hpp"
#include "peer.hpp"

namespace byre::test {
namespace {

class SocketTypes : public testing::TestWithParam<int> {};

TEST_P(SocketTypes, several_buffers_arrive_in_order) {
  const SocketPair sockets(GetParam());
  const Buffer paged = patterned(paged_nbytes);
  Buffer overlay = paged;
  overlay.mutable_data()[0] = std::byte{255};
  const Buffer ordinary = patterned(77, default_allocator());
  send(sockets[0], paged);
  send(sockets[0], Storage(overlay));
  send(sockets[0], TiledBuffer(5));
  send(sockets[0], ordinary);
  EXPECT_EQ(first_difference(receive(sockets[1]).data(), paged_nbytes), paged_nbytes);
  EXPECT_EQ(receive<Storage>(sockets[1]).data()[0], std::byte{255});
  EXPECT_EQ(receive<TiledBuffer>(sockets[1]).nbytes(), 5U);
  EXPECT_EQ(first_difference(receive(sockets[1]).data(), 77), 77U);
}

INSTANTIATE_TEST_SUITE_P(All, SocketTypes, testing::Values(SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM),
                         testing::PrintToStringParamName());

TEST(Sockets, a_socket_that_ends_early_is_reported) {
  for (const std::size_t nbytes : {0U, 1U, 2047U}) {
    SocketPair sockets;
    const std::vector<std::byte> bytes(nbytes);
    ASSERT_EQ(::write(sockets[0], bytes.data(), nbytes), static_cast<ssize_t>(nbytes));
    sockets.close(0);
    try {
      receive(sockets[1]);
      FAIL();
    } catch (const TransferError& error) {
      const std::string text = "ended after " + std::to_string(nbytes) + " bytes, required 2048";
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  }
}

TEST(Sockets, a_short_packet_is_not_completed_by_the_next) {
  const SocketPair sockets(SOCK_SEQPACKET);
  ASSERT_EQ(::send(sockets[0], "x", 1, 0), 1);
  send(sockets[0], filled(std::byte{1}));
  EXPECT_THROW(receive(sockets[1]), TransferError);
  EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
}

TEST(Sockets, a_message_with_three_descriptors_is_refused) {
  const SocketPair sockets;
  const Changed<> changed = written();
  const std::array three = {changed.numbers[0], changed.numbers[1], changed.numbers[0]};
  const std::size_t files = open_files().size();
  send_with(sockets[0], changed.exported.message(), std::span(three).first(2));
  EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
  send_with(sockets[0], changed.exported.message(), three);
  EXPECT_THROW(receive(sockets[1]), TransferError);
  EXPECT_EQ(open_files().size(), files);
}

TEST(Sockets, sockets_that_pass_credentials_receive) {
  const SocketPair sockets;
  const int yes = 1;
  ASSERT_EQ(::setsockopt(sockets[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
  const std::size_t files = open_files().size();
  send_with(sockets[0], written().exported.message(), written().numbers);
  const Changed<> changed = written();
  send(sockets[0], changed.exported);
  EXPECT_THROW(receive<Storage>(sockets[1]), TransferError);
  EXPECT_EQ(receive(sockets[1]).data()[0], std::byte{2});
  EXPECT_EQ(open_files().size(), files + 2);
}

TEST(Sockets, a_descriptor_of_the_senders_process_is_closed) {
  constexpr int pass_pidfd = 76;  // SO_PASSPIDFD, Linux 6.5; older headers lack it
  const SocketPair sockets;
  const int yes = 1;
  if (::setsockopt(sockets[1], SOL_SOCKET, pass_pidfd, &yes, sizeof yes) != 0) {
    GTEST_SKIP() << "the system does not send such descriptors";
  }
  const std::size_t files = open_files().size();
  send(sockets[0], filled(std::byte{2}));
  EXPECT_EQ(receive(sockets[1]).data()[0], std::byte{2});
  EXPECT_EQ(open_files().size(), files);
}

TEST(Sockets, sockets_of_the_network_are_refused) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Buffer buffer = filled(std::byte{1});
  EXPECT_THROW(send(listener, buffer), TransferError);
  ::close(listener);
}

TEST(Sockets, a_non_blocking_socket_waits_for_the_rest_of_a_message) {
  const SocketPair sockets(SOCK_STREAM | SOCK_NONBLOCK);
  const ExportedPages exported = export_pages(Buffer::allocate(0));
  ASSERT_EQ(::send(sockets[0], exported.message().data(), 64, 0), 64);
  std::thread rest([&] {
    const auto left = exported.message().subspan(64);
    EXPECT_EQ(::send(sockets[0], left.data(), left.size(), 0), static_cast<ssize_t>(left.size()));
  });
  EXPECT_EQ(receive(sockets[1]).nbytes(), 0U);
  rest.join();
}

TEST(Sockets, a_message_in_parts_arrives) {
  const SocketPair sockets;
  const ExportedPages exported = export_pages(Buffer::allocate(0));
  for (std::size_t at = 0; at < exported.message().size(); at += 64) {
    ASSERT_EQ(::send(sockets[0], exported.message().data() + at, 64, 0), 64);
  }
  EXPECT_EQ(receive(sockets[1]).nbytes(), 0U);
}

TEST(Sockets, a_closed_socket_and_a_file_are_refused) {
  SocketPair sockets;
  sockets.close(1);
  const Buffer buffer = filled(std::byte{1});
  EXPECT_THROW(send(sockets[0], buffer), TransferError);
  EXPECT_THROW(send(-1, buffer), TransferError);
  const HostileFile file(100);
  EXPECT_THROW(send(file.number(), buffer), TransferError);
  EXPECT_THROW(receive(file.number()), TransferError);
  collect();
  EXPECT_TRUE(buffer.is_unique());
}

TEST(Sockets, a_full_non_blocking_socket_sends_nothing) {
  const SocketPair sockets(SOCK_STREAM | SOCK_NONBLOCK);
  EXPECT_THROW(receive(sockets[1]), TransferError);
  const Buffer buffer = filled(std::byte{1});
  int sent = 0;
  try {
    for (;; ++sent) {
      send(sockets[0], buffer);
    }
  } catch (const TransferError& error) {
    EXPECT_NE(std::string(error.what()).find("send"), std::string::npos);
  }
  EXPECT_GT(sent, 10);
  for (; sent != 0; --sent) {
    EXPECT_EQ(receive(sockets[1]).nbytes(), paged_nbytes);
  }
  EXPECT_THROW(receive(sockets[1]), TransferError);
}

TEST(Sockets, a_receiver_without_descriptors_is_told_so) {
  in_a_child([] {
    const SocketPair sockets;
    send(sockets[0], filled(std::byte{1}));
    const rlim_t before = set_limit(RLIMIT_NOFILE, 0);
    try {
      receive(sockets[1]);
      ADD_FAILURE();
    } catch (const TransferError& error) {
      EXPECT_NE(std::string(error.what()).find("descriptors of the message were lost"),
                std::string::npos);
    }
    set_limit(RLIMIT_NOFILE, before);
  });
}

}  // namespace
}  // namespace byre::test

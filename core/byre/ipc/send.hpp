// SPDX-License-Identifier: BSL-1.0
/// Sends lazy clones to other processes over Unix sockets of the user: a stream, or a socket that
/// keeps messages apart (socketpair(AF_UNIX, ...)). exported_pages.hpp states what is copied.
///
///     byre::send(socket, weights);                          // in one process
///     byre::Buffer clone = byre::receive(socket);           // in another
#pragma once

#include <byre/ipc/exported_pages.hpp>

namespace byre::inline BYRE_ABI {

/// Sends exported data, as often as it is called. Waits while the socket is full; on a non-blocking
/// socket, throws and sends nothing instead. Throws TransferError if the socket is closed or not a
/// Unix socket.
///
/// Thread-safety: the caller must not let two threads send to one socket at once.
BYRE_API void send(int socket, const ExportedPages& exported);

/// As send(socket, export_pages(data)).
BYRE_API void send(int socket, const Buffer& data, CallSite site = CallSite::current());
BYRE_API void send(int socket, const Storage& data, CallSite site = CallSite::current());
BYRE_API void send(int socket, const TiledBuffer& data, CallSite site = CallSite::current());

/// Receives and imports data that another process sent; see import_pages(). Waits for the message;
/// on a non-blocking socket, throws instead if none is there. Throws TransferError also if the
/// other side closed the socket. A message that cannot be imported is lost: call
/// receive<ExportedPages>(), then import_pages(), to be able to try again. After an error in the
/// middle of a message, a stream is of no use any more.
template <class Data = Buffer>
Data receive(int socket, Accept accept = Accept::any_file) = delete;
/// The exported data itself, which is neither checked nor imported, to be imported or sent on
/// later.
template <>
BYRE_API ExportedPages receive<ExportedPages>(int socket, Accept accept);
template <>
BYRE_API Buffer receive<Buffer>(int socket, Accept accept);
template <>
BYRE_API Storage receive<Storage>(int socket, Accept accept);
template <>
BYRE_API TiledBuffer receive<TiledBuffer>(int socket, Accept accept);

}  // namespace byre::inline BYRE_ABI

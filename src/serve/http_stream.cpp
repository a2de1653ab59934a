#include "serve/http_stream.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace sact::serve {
namespace {

constexpr uint64_t kSmall = 1 << 16;  // so much of a request is read however many others there are
constexpr uint64_t kHead = 1 << 15;   // of a request: a first line and headers

int milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now());
  return int(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

}  // namespace

EndSignal::EndSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) fail("the server cannot start: {}", errno_text(errno));
}

EndSignal::~EndSignal() {
  ::close(descriptor_);
}

void EndSignal::give() {
  given_ = true;
  const uint64_t one = 1;
  static_cast<void>(!::write(descriptor_, &one, sizeof one));
}

HttpStream::HttpStream(socket_t socket, const HttpLimits& limits, const EndSignal& end,
                       std::atomic<uint64_t>& held)
    : socket_(socket), limits_(limits), end_(end), held_(held), received_(1 << 16) {}

bool HttpStream::wait(short what, Clock::time_point until) {
  while (true) {
    // A socket that is always ready must not prolong it.
    if (Clock::now() >= std::min(until, deadline_)) return false;
    pollfd polled[] = {{socket_, what, 0}, {end_.descriptor(), POLLIN, 0}};
    const int found =
        ::poll(polled, ending_ ? 1 : 2, milliseconds_until(std::min(until, deadline_)));
    if (polled[1].revents != 0) {
      ending_ = true;
      deadline_ = std::min(deadline_, Clock::now() + std::chrono::seconds(limits_.ending_seconds));
    }
    if (polled[0].revents != 0) return true;
    if (found == 0 || (found < 0 && errno != EINTR)) return false;
  }
}

bool HttpStream::wait_for_request() {
  if (at_ < received_size_) return true;
  pollfd polled[] = {{socket_, POLLIN, 0}, {end_.descriptor(), POLLIN, 0}};
  const auto until = soon();
  int found;
  do {
    found = ::poll(polled, 2, milliseconds_until(until));
  } while (found < 0 && errno == EINTR);
  return found > 0 && polled[0].revents != 0;
}

void HttpStream::set_deadline(int seconds) {
  ending_ = false;
  deadline_ = Clock::now() + std::chrono::seconds(seconds);
}

void HttpStream::start_request(int seconds) {
  refused_ = 0;
  head_ = true;
  replying_ = false;
  set_deadline(seconds);
}

bool HttpStream::keep(uint64_t bytes) {
  request_bytes_ += bytes;
  const uint64_t all = held_ += bytes;
  return request_bytes_ <= kSmall || all <= limits_.all_body_bytes;
}

void HttpStream::end_request() {
  held_ -= request_bytes_;
  request_bytes_ = 0;
}

/// Reads what has come, if the limits allow more.
bool HttpStream::receive() {
  // Each header takes many times its bytes.
  if (head_ && request_bytes_ >= kHead) {
    refused_ = 431;
    return false;
  }
  const size_t most = head_ ? std::min<size_t>(received_.size(), kHead / 2) : received_.size();
  ssize_t found = 0;
  for (bool late = Clock::now() > deadline_;;) {
    if (late) {
      refused_ = 408;
      return false;
    }
    found = ::recv(socket_, received_.data(), most, MSG_DONTWAIT);
    if (found >= 0 || (errno != EINTR && errno != EAGAIN)) break;
    late = errno == EAGAIN && !wait(POLLIN, soon());
  }
  if (found <= 0) return false;
  at_ = 0;
  received_size_ = size_t(found);
  const bool room = keep(received_size_);
  if (request_bytes_ > limits_.body_bytes + kSmall) refused_ = 413;
  if (!room) refused_ = 503;
  return refused_ == 0;
}

ssize_t HttpStream::read(char* into, size_t size) {
  if (at_ == received_size_) {
    // What was written is an interim reply, which the client waits for.
    if (refused_ != 0 || !flush() || !receive()) return -1;
  }
  const size_t given = std::min(size, received_size_ - at_);
  std::memcpy(into, received_.data() + at_, given);
  at_ += given;
  return ssize_t(given);
}

ssize_t HttpStream::write(const char* from, size_t size) {
  constexpr size_t kLarge = 1 << 18;
  if (broken_) return -1;
  if (size < kLarge) {
    written_.append(from, size);
  } else {
    // From where it is, without a copy.
    start_reply();
    broken_ = !flush() || !send(from, size);
  }
  return broken_ ? -1 : ssize_t(size);
}

bool HttpStream::send(const char* from, size_t size) {
  for (size_t sent = 0; sent < size;) {
    if (Clock::now() >= deadline_) return false;
    const ssize_t now = ::send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (now > 0) {
      sent += size_t(now);
    } else if (errno != EINTR && (errno != EAGAIN || !wait(POLLOUT, soon()))) {
      return false;
    }
  }
  return true;
}

bool HttpStream::flush() {
  const bool all = send(written_.data(), written_.size());
  written_.clear();
  return all;
}

void HttpStream::start_reply() {
  if (!replying_) set_deadline(limits_.seconds);
  replying_ = true;
}

bool HttpStream::reply() {
  start_reply();
  return flush() && !broken_;
}

void HttpStream::end(bool unread) {
  ::shutdown(socket_, SHUT_WR);
  if (!unread) return;
  set_deadline(limits_.ending_seconds);
  while (wait(POLLIN, deadline_) &&
         ::recv(socket_, received_.data(), received_.size(), MSG_DONTWAIT) > 0) {
  }
}

void HttpStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();  // nobody asks
  port = 0;
}

void HttpStream::get_local_ip_and_port(std::string& ip, int& port) const {
  get_remote_ip_and_port(ip, port);
}

}  // namespace sact::serve

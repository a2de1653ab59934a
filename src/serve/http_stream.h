// A connection as cpp-httplib reads and writes it, with limits: a request must have come, and its
// reply been taken, within a time that no byte prolongs; and all that is read is counted.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "serve/http.h"

namespace sact::serve {

/// Wakes all connections when the server ends.
class EndSignal {
 public:
  EndSignal();
  ~EndSignal();
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;
  void give();
  bool given() const { return given_; }
  int descriptor() const { return descriptor_; }  // readable once it is given

 private:
  int descriptor_;
  std::atomic<bool> given_ = false;
};

class HttpStream : public httplib::Stream {
 public:
  /// `held` are the bytes of all requests that are being read or answered.
  HttpStream(socket_t socket, const HttpLimits& limits, const EndSignal& end,
             std::atomic<uint64_t>& held);
  ~HttpStream() override { end_request(); }

  /// Waits for the first byte of a request. False: the connection is idle for too long, or gone, or
  /// the server ends.
  bool wait_for_request();
  /// What comes now is a request, which must be complete after so many seconds. Its first line and
  /// its headers may be long, but not as long as a body, until end_head() is called.
  void start_request(int seconds);
  void end_head() { head_ = false; }
  /// Counts what else the request, or its reply, keeps. False: there is no room for that.
  bool keep(uint64_t bytes);
  /// The same for a reply. It takes the place of its request, whose images go when they are
  /// decoded.
  bool keep_reply(uint64_t bytes) {
    return bytes <= request_bytes_ || keep(bytes - request_bytes_);
  }
  /// Sends what was written, as the reply. False: the client did not take it.
  bool reply();
  /// What is counted of the request is needed no more.
  void end_request();
  /// The status that says why no more of a request is read: 408, 413, 431 or 503; 0 where none
  /// does.
  int refused() const { return refused_; }
  /// Whether there is a reply yet, or the beginning of one.
  bool has_reply() const { return replying_ || !written_.empty(); }
  /// Says that no more will come, and hears the client out for a moment: with unread bytes the
  /// connection would be reset, and the client might lose its reply.
  void end(bool unread);

  // What httplib needs.
  bool is_readable() const override { return refused_ == 0; }
  bool is_writable() const override { return true; }
  ssize_t read(char* into, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Waits until the socket can be read or written; by then at the latest, and sooner when the
  /// server ends.
  bool wait(short what, Clock::time_point until);
  void set_deadline(int seconds);
  bool receive();
  bool flush();
  bool send(const char* from, size_t size);
  void start_reply();
  Clock::time_point soon() const {
    return Clock::now() + std::chrono::seconds(limits_.idle_seconds);
  }

  const socket_t socket_;
  const HttpLimits& limits_;
  const EndSignal& end_;
  std::atomic<uint64_t>& held_;
  uint64_t request_bytes_ = 0;
  int refused_ = 0;
  Clock::time_point deadline_;
  bool ending_ = false;    // the deadline is that of the server's end
  bool head_ = false;      // of a request is being read
  bool replying_ = false;  // the deadline is that of the reply
  bool broken_ = false;    // the client did not take all of the reply
  std::vector<char> received_;
  size_t at_ = 0, received_size_ = 0;
  std::string written_;
};

}  // namespace sact::serve

// Who may ask: pages that a browser has from elsewhere may not, under whatever name they have made
// it find this server (DNS rebinding).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sact::serve {

/// The names that requests may call the server by.
class Hosts {
 public:
  /// Those of this machine for itself, and others. sact::Error for one that is no name.
  explicit Hosts(const std::vector<std::string>& others);

  /// It listens at this address. Where other machines can reach that and no other names are given,
  /// any name will do.
  void listens_at(const std::string& address, bool is_loopback);
  /// `host` is that of a request, with or without a port.
  bool allow(std::string_view host) const;

 private:
  std::vector<std::string> names_;
  bool has_others_, any_ = false;
};

/// Whether a page of this `Origin` came from the `Host` that it asks, perhaps through a proxy with
/// encryption.
bool is_own_page(std::string_view origin, std::string_view host);

}  // namespace sact::serve

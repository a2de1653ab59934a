#include "serve/hosts.h"

#include <algorithm>

#include "base/error.h"
#include "serve/words.h"

namespace sact::serve {
namespace {

/// "name" of "name:80", "[::1]" of "[::1]:80"; empty where that is none.
std::string_view name_of(std::string_view host) {
  const bool v6 = host.starts_with('[');
  const size_t end = std::min(v6 ? host.find(']') : host.find(':'), host.size());
  const std::string_view name = host.substr(0, end + v6), port = host.substr(name.size());
  const bool fits =
      port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
  return fits && (!v6 || name.ends_with(']')) ? name : std::string_view();
}

std::string bracketed(const std::string& address) {
  const bool bare_v6 =
      !address.starts_with('[') && std::count(address.begin(), address.end(), ':') > 1;
  return bare_v6 ? "[" + address + "]" : address;
}

}  // namespace

Hosts::Hosts(const std::vector<std::string>& others)
    : names_{"localhost", "127.0.0.1", "[::1]"}, has_others_(!others.empty()) {
  for (const std::string& other : others) {
    const std::string name = bracketed(other);
    if (name.empty() || name_of(name) != name || name.find_first_of("/ ") != name.npos) {
      fail("--allow-host takes the name of a server, without http:// and port, not '{}'",
           printable(other));
    }
    names_.push_back(name);
  }
}

void Hosts::listens_at(const std::string& address, bool is_loopback) {
  names_.push_back(bracketed(address));
  any_ = !is_loopback && !has_others_;
}

bool Hosts::allow(std::string_view host) const {
  const std::string_view name = name_of(host);
  return !name.empty() && (any_ || std::any_of(names_.begin(), names_.end(), [&](const auto& one) {
                             return same_word(one, name);
                           }));
}

bool is_own_page(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) && same_word(origin.substr(scheme.size()), host)) return true;
  }
  return false;
}

}  // namespace sact::serve

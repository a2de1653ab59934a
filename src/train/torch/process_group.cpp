#include "train/torch/process_group.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <stdlib.h>
#include <torch/version.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

// CMake defines these where it finds the headers of Gloo and NCCL; those of c10d itself
// (USE_C10D_...) also come with a LibTorch that was built with them and lies there without.
#ifdef SACT_HAS_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef SACT_HAS_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "train/torch/roll_call.h"

namespace sact::train {
namespace {

constexpr std::chrono::milliseconds kJoining{60'000};  // for all to start, at least
constexpr int64_t kBucketBytes = 25 << 20;  // large enough that starting a message costs nothing

#if TORCH_VERSION_MAJOR >= 2
using C10dBackend = c10d::Backend;
#else
using C10dBackend = c10d::ProcessGroup;
#endif
using Work = decltype(std::declval<C10dBackend&>().barrier());  // that was started

/// The first line of a message of LibTorch, without its stack trace.
std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return printable(text, 200);
}

class Environment {
 public:
  explicit Environment(const std::function<const char*(const char*)>& variable)
      : variable_(variable) {}

  bool has(const char* name) const {
    const char* text = variable_(name);
    return text && *text;
  }

  std::string text(const char* name) const {
    if (!has(name)) {
      fail(
          "WORLD_SIZE is set but {} is not: each of several processes needs RANK, WORLD_SIZE, "
          "MASTER_ADDR and MASTER_PORT; to run one process alone, unset WORLD_SIZE",
          name);
    }
    return variable_(name);
  }

  int number(const char* name, int low, int high) const {
    const std::string value = text(name);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < low ||
        number > high) {
      fail("the environment variable {} must be a whole number from {} to {}, found '{}'", name,
           low, high, printable(value));
    }
    return number;
  }

  int number_or(const char* name, int low, int high, int otherwise) const {
    return has(name) ? number(name, low, high) : otherwise;
  }

 private:
  const std::function<const char*(const char*)>& variable_;
};

torch::Device own_gpu(const ProcessPlace& place) {
  const int count = int(torch::cuda::device_count());
  if (place.local_rank >= count) {
    fail(
        "worker {} of {} is number {} on its machine, which has {} CUDA device{}; start one "
        "process "
        "for each, and set LOCAL_RANK where they are on several machines",
        place.rank, place.size, place.local_rank + 1, count, count == 1 ? "" : "s");
  }
  const torch::Device device(torch::kCUDA, c10::DeviceIndex(place.local_rank));
  c10::impl::VirtualGuardImpl(torch::kCUDA).setDevice(device);
  return device;
}

/// With the store itself where `own` and this is worker 0; otherwise a connection to it.
c10::intrusive_ptr<c10d::Store> open_store(const ProcessPlace& place,
                                           std::chrono::milliseconds timeout, bool own) {
  // torchrun has opened the store in a process of its own, and keeps it when it restarts workers.
  const char* agent = ::getenv("TORCHELASTIC_USE_AGENT_STORE");
  const char* attempt = ::getenv("TORCHELASTIC_RESTART_COUNT");
  c10d::TCPStoreOptions options;
  options.port = uint16_t(place.port);
  options.isServer = own && place.rank == 0 && !(agent && std::strcmp(agent, "True") == 0);
  options.waitWorkers = false;
  options.timeout = timeout;
  auto store = c10::make_intrusive<c10d::TCPStore>(place.address, options);
  store->setTimeout(timeout);
  return c10::make_intrusive<c10d::PrefixStore>(std::string("sact/") + (attempt ? attempt : "0"),
                                                store);
}

void wait_for_all(c10d::Store& store, const ProcessPlace& place) {
  const auto joined = [](int rank) { return "joined " + std::to_string(rank); };
  store.set(joined(place.rank), std::vector<uint8_t>{1});
  std::vector<std::string> all;
  for (int rank = 0; rank < place.size; ++rank) all.push_back(joined(rank));
  store.wait(all);
}

#ifdef SACT_HAS_GLOO
c10::intrusive_ptr<C10dBackend> connect_gloo(const c10::intrusive_ptr<c10d::Store>& store,
                                             const ProcessPlace& place,
                                             std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  const bool loopback = place.address == "localhost" || place.address.rfind("127.", 0) == 0;
  if (const char* interface = ::getenv("GLOO_SOCKET_IFNAME")) {
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  } else if (loopback) {  // whatever the name of this machine stands for
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(place.address));
  } else {
    options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
  }
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, options);
}
#endif

#ifdef SACT_HAS_NCCL
c10::intrusive_ptr<C10dBackend> connect_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                             const ProcessPlace& place,
                                             std::chrono::milliseconds timeout) {
  // So that waiting for a worker that is gone ends with an exception, not with the process.
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", /*overwrite=*/0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, place.rank, place.size, options);
}
#endif

/// Gloo or NCCL through c10d.
class C10dCollectives : public Collectives {
 public:
  C10dCollectives(c10::intrusive_ptr<C10dBackend> backend, torch::Device device,
                  std::unique_ptr<RollCall> roll_call)
      : backend_(std::move(backend)), device_(device), roll_call_(std::move(roll_call)) {}

  torch::Device device() const override { return device_; }
  std::vector<int> missing() override { return roll_call_->missing(); }
  std::vector<int> lost() override { return roll_call_->lost(); }

  std::vector<torch::Tensor> run(Operation operation, std::vector<torch::Tensor> tensors) override {
    std::vector<Work> work;
    for (const torch::Tensor& tensor : tensors) {
      std::vector<torch::Tensor> one = {tensor};
      work.push_back(start(operation, one));
    }
    for (auto& started : work) started->wait();
    return tensors;
  }

 private:
  Work start(Operation operation, std::vector<torch::Tensor>& tensors) {
    if (operation == Operation::kBroadcast) return backend_->broadcast(tensors);
    c10d::AllreduceOptions options;
    if (operation == Operation::kMaximum) options.reduceOp = c10d::ReduceOp::MAX;
    return backend_->allreduce(tensors, options);
  }

  c10::intrusive_ptr<C10dBackend> backend_;
  torch::Device device_;
  std::unique_ptr<RollCall> roll_call_;  // ends before what it is about
};

std::unique_ptr<Collectives> connect(const ProcessPlace& place,
                                     [[maybe_unused]] torch::Device device) {
  const auto timeout = std::chrono::milliseconds(int64_t(place.timeout_seconds * 1000));
  const auto store = open_store(place, std::max(timeout, kJoining), /*own=*/true);
  wait_for_all(*store, place);
  auto roll_call = std::make_unique<RollCall>(place.rank, place.size, timeout, [place, timeout] {
    return open_store(place, timeout, /*own=*/false);
  });
#ifdef SACT_HAS_NCCL
  if (device.is_cuda()) {
    return std::make_unique<C10dCollectives>(connect_nccl(store, place, timeout), device,
                                             std::move(roll_call));
  }
#endif
#ifdef SACT_HAS_GLOO
  return std::make_unique<C10dCollectives>(connect_gloo(store, place, timeout), torch::kCPU,
                                           std::move(roll_call));
#else
  fail(
      "this build of sact cannot use several processes on device '{}': when it was configured {} "
      "was "
      "not found",
      device.is_cuda() ? "cuda" : "cpu", device.is_cuda() ? "nccl.h" : "the header gloo/context.h");
#endif
}

/// The same, with every failure turned into one line.
std::unique_ptr<Collectives> joined(const ProcessPlace& place, torch::Device device) {
  try {
    return connect(place, device);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail(
        "worker {} of {} cannot join the others at {} port {} ({}): start all of them, with the "
        "same MASTER_ADDR and MASTER_PORT, a port that is free",
        place.rank, place.size, printable(place.address), place.port, first_line(error));
  }
}

}  // namespace

ProcessPlace process_place(const std::function<const char*(const char*)>& variable) {
  const Environment environment(variable);
  constexpr int kMost = 65536;
  ProcessPlace place;
  if (!environment.has("WORLD_SIZE")) {
    if (environment.number_or("RANK", 0, kMost, 0) > 0) {
      fail("RANK is set but WORLD_SIZE is not: each of several processes needs both");
    }
    return place;
  }
  place.size = environment.number("WORLD_SIZE", 1, kMost);
  if (place.size == 1) return place;
  place.rank = environment.number("RANK", 0, place.size - 1);
  place.address = environment.text("MASTER_ADDR");
  place.port = environment.number("MASTER_PORT", 1, 65535);
  // Without word about machines there is only one.
  place.local_size = environment.number_or("LOCAL_WORLD_SIZE", 1, place.size, place.size);
  place.local_rank =
      environment.number_or("LOCAL_RANK", 0, place.local_size - 1, place.rank % place.local_size);
  place.timeout_seconds = environment.number_or("SACT_TIMEOUT", 1, 1'000'000, 600);
  return place;
}

ProcessGroup::ProcessGroup(torch::Device device) : device_(device) {}

ProcessGroup::ProcessGroup(const ProcessPlace& place, torch::Device device,
                           std::unique_ptr<Collectives> collectives)
    : place_(place), device_(device), collectives_(std::move(collectives)) {}

ProcessGroup::~ProcessGroup() = default;
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;

ProcessGroup ProcessGroup::from_environment(torch::Device device) {
  const ProcessPlace place = process_place([](const char* name) { return ::getenv(name); });
  if (place.size == 1) return ProcessGroup(device);
  if (place.rank > 0 && log_level() == LogLevel::kInfo) set_log_level(LogLevel::kWarning);
  if (device.is_cuda()) device = own_gpu(place);
  ProcessGroup group(place, device, joined(place, device));
  group.barrier();  // NCCL connects at the first exchange
  return group;
}

int ProcessGroup::threads(int asked) const {
  return asked > 0 ? asked : std::max(1, available_threads() / local_size());
}

/// "worker 2 has ended or does not answer".
static std::string lost_workers(const std::vector<int>& missing) {
  if (missing.empty()) return "one of them has ended or does not answer in time";
  if (missing.size() == 1) {
    return fmt::format("worker {} has ended or does not answer", missing.front());
  }
  return fmt::format("workers {} have ended or do not answer", fmt::join(missing, ", "));
}

/// Tensors lie wherever the caller has them; NCCL takes those of a GPU only, Gloo those of the
/// host.
void ProcessGroup::exchange(Collectives::Operation operation,
                            const std::vector<torch::Tensor>& tensors) {
  if (alone()) return;
  torch::NoGradGuard no_grad;
  try {
    std::vector<torch::Tensor> sent;
    for (const torch::Tensor& tensor : tensors) {
      sent.push_back(tensor.to(collectives_->device()).contiguous());
    }
    const std::vector<torch::Tensor> received = collectives_->run(operation, std::move(sent));
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!received[i].is_same(tensors[i])) tensors[i].copy_(received[i]);
    }
  } catch (const std::exception& error) {
    fail_without(collectives_->missing(), first_line(error));
  }
}

void ProcessGroup::fail_without(const std::vector<int>& missing, const std::string& reason) const {
  fail(
      "worker {} of {} lost contact with the others ({}): {}; start all of them again, and a "
      "training run goes on from its last checkpoint",
      place_.rank, place_.size, reason, lost_workers(missing));
}

void ProcessGroup::expect_others() {
  if (alone()) return;
  const std::vector<int> lost = collectives_->lost();
  if (!lost.empty()) fail_without(lost, "no sign of life");
}

void ProcessGroup::sum(torch::Tensor& tensor) {
  exchange(Collectives::Operation::kSum, {tensor});
}

void ProcessGroup::maximum(torch::Tensor& tensor) {
  exchange(Collectives::Operation::kMaximum, {tensor});
}

std::vector<bool> ProcessGroup::average(const std::vector<torch::Tensor>& tensors,
                                        const std::vector<bool>& flags) {
  if (alone()) return flags;
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> all = tensors;
  const std::vector<float> raised(flags.begin(), flags.end());
  if (!flags.empty()) all.push_back(torch::tensor(raised).to(device_));
  // Buckets: neighbours in the list, end to end, of one type.
  std::vector<torch::Tensor> buckets;
  std::vector<size_t> ends;
  for (size_t begin = 0; begin < all.size(); begin = ends.back()) {
    std::vector<torch::Tensor> flat;
    int64_t bytes = 0;
    size_t end = begin;
    while (end < all.size() && bytes < kBucketBytes &&
           all[end].scalar_type() == all[begin].scalar_type()) {
      flat.push_back(all[end].detach().reshape({-1}));
      bytes += int64_t(all[end].nbytes());
      ++end;
    }
    buckets.push_back(torch::cat(flat));
    ends.push_back(end);
  }
  exchange(Collectives::Operation::kSum, buckets);
  size_t item = 0;
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    buckets[bucket].div_(size());
    for (int64_t offset = 0; item < ends[bucket]; offset += all[item++].numel()) {
      all[item].copy_(buckets[bucket].narrow(0, offset, all[item].numel()).view(all[item].sizes()));
    }
  }
  std::vector<bool> agreed;
  const torch::Tensor host = flags.empty() ? torch::Tensor() : all.back().cpu();
  for (size_t i = 0; i < flags.size(); ++i) {
    agreed.push_back(host[int64_t(i)].item<float>() > 0);
  }
  return agreed;
}

void ProcessGroup::broadcast(const std::vector<torch::Tensor>& tensors) {
  exchange(Collectives::Operation::kBroadcast, tensors);
}

std::string ProcessGroup::broadcast(const std::string& text) {
  if (alone()) return text;
  torch::Tensor size = torch::tensor({int64_t(text.size())});
  broadcast(std::vector<torch::Tensor>{size});
  torch::Tensor letters = torch::zeros({size.item<int64_t>()}, torch::kUInt8);
  if (first()) {
    SACT_ASSERT(size_t(letters.numel()) == text.size());
    std::copy(text.begin(), text.end(), letters.data_ptr<uint8_t>());
  }
  broadcast(std::vector<torch::Tensor>{letters});
  return {static_cast<const char*>(letters.data_ptr()), size_t(letters.numel())};
}

bool ProcessGroup::any(bool condition) {
  torch::Tensor count = torch::tensor({condition ? 1.0f : 0.0f});
  sum(count);
  return count.item<float>() > 0;
}

void ProcessGroup::barrier() {
  any(false);
}

}  // namespace sact::train

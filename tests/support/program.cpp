#include "support/program.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace sact::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void redirect(int descriptor, const char* path, int flags) {
  const int file = ::open(path, flags, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

Running::Running(const Command& command) {
  // Everything is made before fork(): between that and exec the child may not even allocate.
  const std::string out = (scratch_ / "out").string(), err = (scratch_ / "err").string();
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;  // the first of a name counts
  for (char** variable = ::environ; *variable; ++variable) environment.emplace_back(*variable);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  child_ = ::fork();
  if (child_ == 0) {
    if (::chdir(command.directory.c_str()) != 0) ::_exit(126);
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT);
    if (command.max_file_bytes > 0) {
      const rlimit limit{command.max_file_bytes, command.max_file_bytes};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
    }
    if (command.max_memory_bytes > 0) {
      const rlimit limit{command.max_memory_bytes, command.max_memory_bytes};
      if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(126);
    }
    ::execve(command.program.c_str(), argv.data(), envp.data());
    ::_exit(127);
  }
  if (child_ < 0) ADD_FAILURE() << "the program could not be started";
}

Running::~Running() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

void Running::send(int signal) {
  if (child_ > 0) ::kill(child_, signal);
}

bool Running::ended() const {
  siginfo_t info{};
  if (child_ <= 0) return true;
  return ::waitid(P_PID, id_t(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child_;
}

Finished Running::wait() {
  int status = 0;
  if (child_ <= 0 || ::waitpid(child_, &status, 0) != child_) {
    ADD_FAILURE() << "there is no program to wait for";
    return {};
  }
  child_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          text_of(scratch_ / "out"), text_of(scratch_ / "err")};
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool found = ::bind(socket, any, length) == 0 && ::getsockname(socket, any, &length) == 0;
  ::close(socket);
  EXPECT_TRUE(found) << "no free port";
  return ntohs(address.sin_port);
}

std::vector<std::string> worker_environment(int rank, int size, int port) {
  return {"RANK=" + std::to_string(rank),
          "WORLD_SIZE=" + std::to_string(size),
          "MASTER_ADDR=127.0.0.1",
          "MASTER_PORT=" + std::to_string(port),
          "SACT_TIMEOUT=120",
          "OMP_NUM_THREADS=1"};
}

std::vector<Finished> run_together(const std::string& program,
                                   const std::vector<std::vector<std::string>>& arguments) {
  const int port = free_port(), size = int(arguments.size());
  std::vector<std::unique_ptr<Running>> workers;
  for (int rank = 0; rank < size; ++rank) {
    workers.push_back(std::make_unique<Running>(
        Command{program, arguments[size_t(rank)], worker_environment(rank, size, port)}));
  }
  std::vector<Finished> finished;
  for (auto& worker : workers) finished.push_back(worker->wait());
  return finished;
}

#ifdef SACT_PROGRAM
Finished run_sact(const std::vector<std::string>& arguments, const std::string& directory) {
  return Running({SACT_PROGRAM, arguments, {}, directory}).wait();
}
#endif

}  // namespace sact::test

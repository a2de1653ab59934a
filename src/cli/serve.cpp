// sact serve: models behind HTTP, for programs and for a page in the browser.
#include <chrono>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/start.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/image_options.h"
#include "cli/interrupt.h"
#include "cli/print_block.h"
#include "serve/service.h"

namespace sact::cli {
namespace {

struct ServeOptions {
  CommonOptions common;
  std::vector<std::string> models;
  std::string host = "127.0.0.1";
  int port = 8080, max_body_mb = 32, max_bodies_mb = 256, max_decoded_mb = 1024;
  BackendOptions backend;
  serve::HttpLimits http;
  serve::ServiceLimits service;
  io::ReadOptions reading;
};

/// Runs the server until a signal comes, and then until what has begun is answered.
void serve_until_interrupted(serve::HttpServer& server, serve::Service& service) {
  std::exception_ptr failure;
  std::atomic<bool> ended = false;
  std::thread thread = start_thread([&] {
    try {
      server.run();
    } catch (...) {
      failure = std::current_exception();
    }
    ended = true;
  });
  while (!was_interrupted() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  service.drain();
  while (!ended) {  // a signal may come before it listens
    server.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  thread.join();
  if (failure) std::rethrow_exception(failure);
  if (!was_interrupted()) fail("the server ended by itself: its socket was lost");
}

int run(const ServeOptions& options) {
  const app::Compute compute = chosen_compute(options.backend, options.common);
  serve::Models models(options.models, compute);
  serve::ServiceLimits limits = options.service;
  limits.run.max_pixels = options.reading.max_pixels;
  limits.run.decoded_bytes = uint64_t(options.max_decoded_mb) << 20;
  limits.threads = options.common.threads;
  serve::HttpLimits http = options.http;
  http.body_bytes = uint64_t(options.max_body_mb) << 20;
  http.all_body_bytes = std::max(http.body_bytes, uint64_t(options.max_bodies_mb) << 20);
  limits.reply_bytes = http.all_body_bytes;
  serve::Service service(models, limits);
  http.seconds = limits.seconds;
  const std::unique_ptr<serve::HttpServer> server = serve::open_http_server(
      http, {[&](serve::HttpRequest request) { return service.answer(std::move(request)); },
             [&](int status, const std::string& why) { return service.refuse(status, why); }});
  const int port = server->bind(options.host, options.port);
  catch_interrupts();
  const bool v6 = options.host.find(':') != std::string::npos;
  const std::string address =
      fmt::format("http://{}{}{}:{}/", v6 ? "[" : "", options.host, v6 ? "]" : "", port);
  if (options.common.json) {
    // In one line, since who started the server reads on while it runs.
    print_block(io::dump_json(
        with_schema({{"address", address}, {"port", port}, {"models", models.json()}})));
  } else {
    print(fmt::format("{} at {}", pluralize(int64_t(models.all().size()), "model"), address));
    print_hint("Ctrl-C ends it when what has begun is answered");
  }
  flush_output();
  serve_until_interrupted(*server, service);
  return 0;
}

}  // namespace

void declare_serve(CLI::App& app, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve models over HTTP, with a page to try them in the browser");
  command->add_option("models", options->models, "Model files; requests call them by their names")
      ->required()
      ->type_name("MODEL");
  command->add_option("--port", options->port, "Port to listen at; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--host", options->host,
                   "Address to listen at; 0.0.0.0 lets other machines in, without any password")
      ->capture_default_str();
  command
      ->add_option("--allow-host", options->http.hosts,
                   "Name by which requests may call the server, besides localhost and --host, as "
                   "through a proxy; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--batch", options->service.queue.batch, "Images that run together at most")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--queue", options->service.queue.waiting,
                   "Images that may wait; requests beyond them get 503")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--connections", options->http.connections,
                   "Connections that are served at a time; others get 503")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->service.seconds,
                   "Seconds that a client may take to send a request, the server to answer it, and "
                   "the client to take the answer")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  command->add_option("--max-body", options->max_body_mb, "MiB of a request")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--max-bodies", options->max_bodies_mb,
                   "MiB of all requests that are being read or answered, and of their replies; "
                   "others get 503")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--max-decoded", options->max_decoded_mb,
                   "MiB of all images that are being decoded; others wait")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--max-side", options->service.run.max_side,
                   "The largest side of a square that a network may be asked to see")
      ->check(CLI::Range(32, 8192))
      ->capture_default_str();
  options->reading.max_pixels = options->service.run.max_pixels;
  add_max_pixels_option(*command, options->reading);
  add_dtype_option(*command, options->backend.dtype);
  add_exact_option(*command, options->backend.exact);
  add_output_options(*command, options->common);
  add_threads_option(*command, options->common);
  set_examples(*command,
               "  sact serve m.safetensors\n"
               "  sact serve classifier.safetensors detector.safetensors --port 9000\n"
               "  curl --data-binary @cat.jpg 'http://127.0.0.1:8080/v1/classify?top=1'");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli

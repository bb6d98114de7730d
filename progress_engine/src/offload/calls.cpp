// SPDX-License-Identifier: BSD-3-Clause
#include "offload/calls.hpp"

#include <string>

#include "mpi/mpi_header.hpp"
#include "offload/ult.hpp"

namespace progress_engine::offload {

std::atomic<Process*> active_process{nullptr};

namespace {

struct Execution : Command {
  int (*call)(void*) = nullptr;
  void* closure = nullptr;
  int code = MPI_SUCCESS;
  Completion completion;
};

void run_execution(Command& command) {
  auto& execution = static_cast<Execution&>(command);
  execution.code = execution.call(execution.closure);
  execution.completion.complete();
}

void run_operation(Command& command) {
  auto& operation = static_cast<Operation&>(command);
  Process& here = process();
  operation.real = here.handles.request_null;
  const int code = operation.start(operation.closure, &operation.real);
  here.table.adopt(operation, code);
}

void run_attempt(Command& command) {
  auto& attempt = static_cast<Attempt&>(command);
  if (attempt.attempt(attempt.closure, &attempt.code))
    attempt.completion.complete();
  else
    process().table.adopt(attempt);
}

}  // namespace

int execute(int (*call)(void*), void* closure) {
  if (on_communication_thread()) return call(closure);
  Execution execution;
  execution.execute = run_execution;
  execution.call = call;
  execution.closure = closure;
  process().communication_thread.submit(execution);
  execution.completion.wait();
  return execution.code;
}

namespace {

struct Loan : Command {
  Completion granted;
  Completion returned;
  Completion over;  // the communication thread looks at `returned` until then
};

void run_loan(Command& command) {
  auto& loan = static_cast<Loan&>(command);
  loan.granted.complete();
  loan.returned.wait();
  loan.over.complete();
}

}  // namespace

int borrow(int (*call)(void*), void* closure) {
  if (on_communication_thread()) return call(closure);
  if (!process().callers_take_turns) return execute(call, closure);
  Loan loan;
  loan.execute = run_loan;
  // Who executes it waits for this thread: if that were the same one, it would wait for itself.
  if (!process().communication_thread.hand_over(loan)) return execute(call, closure);
  loan.granted.wait();
  int code = MPI_SUCCESS;
  {
    const StandIn here;
    code = call(closure);
  }
  loan.returned.complete();
  loan.over.wait();
  return code;
}

int local(int (*call)(void*), void* closure) {
  if (on_communication_thread()) return call(closure);
  int code = MPI_SUCCESS;
  Process& here = process();
  if (here.callers_take_turns && here.communication_thread.take_turn([&] { code = call(closure); })) return code;
  return borrow(call, closure);
}

namespace {

void submit(Operation& operation, Start start, void* closure) {
  operation.execute = run_operation;
  operation.start = start;
  operation.closure = closure;
  operation.brief = true;
  process().communication_thread.submit(operation);
}

// In a callback: others wait meanwhile, and so the wait must end.
int complete_here(const char* name, Start start, void* closure, MPI_Status* status) {
  constexpr Nanoseconds timeout = seconds(10);
  MPI_Request real = process().handles.request_null;
  int code = start(closure, &real);
  int done = 0;
  for (const Nanoseconds begin = now(); code == MPI_SUCCESS && done == 0;) {
    code = PE_PMPI(MPI_Test)(&real, &done, status);
    if (now() - begin > timeout) refuse_callback(name);
  }
  return code;
}

void give_either(bool with_error, const Operation& operation, MPI_Status* status) {
  if (with_error)
    give_with(operation.code, status, operation.status);
  else
    give(status, operation.status);
}

}  // namespace

int complete(const char* name, Start start, void* closure, MPI_Status* status, bool with_error) {
  if (on_communication_thread()) [[unlikely]]
    return complete_here(name, start, closure, status);
  Operation operation;
  submit(operation, start, closure);
  operation.completion.wait();
  give_either(with_error, operation, status);
  return operation.code;
}

int complete_both(Start first, void* first_closure, Start second, void* second_closure, MPI_Status* status,
                  bool with_error) {
  Operation operations[2];
  submit(operations[0], first, first_closure);
  submit(operations[1], second, second_closure);
  operations[0].completion.wait();
  operations[1].completion.wait();
  give_either(with_error, operations[0], status);
  return operations[0].code != MPI_SUCCESS ? operations[0].code : operations[1].code;
}

int collective(int (*call)(void*), void* closure) {
  if (on_communication_thread()) return call(closure);
  if (process().collectives == CollectiveCalls::blocking) return execute(call, closure);
  // Collective operations start in the order in which the program calls them.
  local([]() -> int { return MPI_SUCCESS; });
  const CallBeside here;
  return call(closure);
}

void refuse_callback(const char* name) {
  give_up(
      std::string("a callback (an attribute's, an operation's, an error handler's or a generalised request's) calls ") +
      name +
      ", which cannot be done while the callback runs: it waits for others that wait for the callback. Callbacks "
      "may make only calls that need no other thread, or the program must run without offload");
}

Proxy& take_proxy() {
  Proxy* proxy = process().proxies.take();
  if (!proxy)
    give_up("the program holds " + std::to_string(Pool<Proxy>::capacity) +
            " requests that it never waited for: there is no room for more");
  proxy->completion.reset();
  proxy->persistent = false;
  proxy->general = false;
  proxy->order = 0;
  proxy->partitions = 0;
  proxy->lacking = 0;
  proxy->detached = false;
  proxy->active = true;
  return *proxy;
}

void launch(Proxy& proxy, MPI_Request* request) {
  proxy.execute = run_operation;
  proxy.closure = proxy.arguments.data();
  proxy.brief = true;
  proxy.completion.reset();
  if (request) *request = handle_of(proxy);
  process().communication_thread.submit(proxy);
}

int start_now(Start start, void* closure, MPI_Request* request, bool persistent, int partitions, std::uint64_t order) {
  Proxy& proxy = take_proxy();
  proxy.partitions = partitions;
  proxy.persistent = persistent;
  proxy.order = order;
  proxy.active = !persistent;
  Process& here = process();
  const int code = execute([&] {
    proxy.real = here.handles.request_null;
    const int result = start(closure, &proxy.real);
    if (result != MPI_SUCCESS) return result;
    if (!persistent) here.table.adopt(proxy, result);
    if (partitions == Proxy::partitioned_receive) here.table.lacks(proxy, 1);
    return result;
  });
  if (code == MPI_SUCCESS)
    *request = handle_of(proxy);
  else
    here.proxies.give_back(proxy);
  return code;
}

int start_general(Start start, void* closure, MPI_Request* request) {
  Proxy& proxy = take_proxy();
  proxy.general = true;
  const int code = borrow([&] {
    proxy.real = process().handles.request_null;
    return start(closure, &proxy.real);
  });
  if (code == MPI_SUCCESS)
    *request = handle_of(proxy);
  else
    process().proxies.give_back(proxy);
  return code;
}

int complete_general(MPI_Request request, int (*complete)(MPI_Request)) {
  Proxy* proxy = is_none(request) ? nullptr : proxy_of(process().proxies, request);
  if (!proxy) return MPI_ERR_REQUEST;
  return borrow([&] {
    const int code = complete(proxy->real);
    if (code == MPI_SUCCESS && proxy->detached)
      process().proxies.give_back(*proxy);  // freed before
    else if (code == MPI_SUCCESS)
      proxy->completion.complete();
    return code;
  });
}

int cancel(MPI_Request request, int (*real_cancel)(MPI_Request*)) {
  const bool in_callback = on_communication_thread();  // from within advance()
  return local([&]() -> int {
    MPI_Request real = real_of(request);
    if (is_none(real) && !is_none(request)) return MPI_SUCCESS;  // complete
    const int code = real_cancel(&real);
    if (!in_callback) process().table.advance();
    return code;
  });
}

int attempt(bool (*try_once)(void*, int*), void* closure) {
  Attempt command;
  command.execute = run_attempt;
  command.attempt = try_once;
  command.closure = closure;
  command.brief = true;
  process().communication_thread.submit(command);
  command.completion.wait();
  return command.code;
}

int probed(MPI_Status* status, const int* flag, int code, int (*set_cancelled)(MPI_Status*, int)) {
  if (code == MPI_SUCCESS && *flag && is_wanted(status)) set_cancelled(status, 0);
  return code;
}

MPI_Request real_of(MPI_Request request) {
  Process& here = process();
  if (request == here.handles.request_null) return request;
  const Proxy* proxy = proxy_of(here.proxies, request);
  return proxy ? proxy->real : request;
}

bool is_complete(MPI_Request request) {
  const Proxy* proxy = is_none(request) ? nullptr : proxy_of(process().proxies, request);
  return proxy && proxy->active && proxy->completion.done();
}

bool is_none(MPI_Request request) { return request == process().handles.request_null; }

}  // namespace progress_engine::offload

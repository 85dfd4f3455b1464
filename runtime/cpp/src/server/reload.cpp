// Files that are read again while a server runs, and the end of connections that they do not allow any more.
#include "mf/core/blocking.hpp"
#include "mf/server/forwarder.hpp"
#include "server/core.hpp"

namespace mf {

bool Server::Core::reload() {
  blocking();
  {
    const std::scoped_lock lock(mutex_);
    if (!started_ || stopped_) return true;
  }
  bool usable = read_files(transport::Reads::all);
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    registrar = registrar_;
  }
  if (registrar) usable = registrar->reload() && usable;
  if (options_.forwarder) usable = options_.forwarder->reload() && usable;
  return usable;
}

// Runs on the acceptors' thread until the server ends.
void Server::Core::watch_files() {
  if (!tls_ && !tokens_ && !access_->has_file()) return;
  reactors_.front()->at(mf::now() + options_.reload_interval, [this] {
    watch_files();
    blocking();  // reading may take long
    (void)read_files(transport::Reads::replaced);
  });
}

// Connections that were accepted while the files were read are looked at the next time.
bool Server::Core::read_files(transport::Reads which) {
  const std::scoped_lock one_at_a_time(reading_files_);
  bool usable = !tls_ || transport::read_again(*tls_, which);
  const bool all = which == transport::Reads::all;
  if (tokens_) usable = tokens_->refresh(all) && usable;
  const auto access = access_->refresh(all);
  usable = usable && access != access::Reread::unusable;
  for (const auto& client : clients()) {
    if (!client.link->trusted()) retire(client, "its certificate has expired or is not accepted any more");
    if (client.entrance)
      if (const auto why = client.entrance->why_over(); !why.empty()) retire(client, why);
    if (client.rights && (all || access == access::Reread::replaced))
      client.link->post([this, client] {
        if (client.rights->changed()) retire(client, "what it may do has changed");
      });
  }
  return usable;
}

void Server::Core::retire(const Client& client, std::string_view reason) {
  if (!client.link->drain(std::string(reason) + "; connect again")) return;
  options_.log.write(Level::warning, "connection_retired",
                     {{"peer", client.link->peer()}, {"reason", reason}});
  client.link->at(mf::now() + options_.drain_timeout,
                  [weak = std::weak_ptr(client.link), why = std::string(reason)] {
                    if (const auto link = weak.lock()) link->close(why);
                  });
}

}  // namespace mf

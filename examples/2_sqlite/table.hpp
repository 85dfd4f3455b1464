// Values of any type under keys of any type, in a table of SQLite: a row is the key's hash, its bytes, the
// value's. table.py reads and writes the same.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "mf/codec/hash.hpp"
#include "mf/codec/value.hpp"

class Database {
 public:
  explicit Database(const std::string& path) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open(path.c_str(), &opened);
    handle_.reset(opened);
    check(status);
  }

  void run(const std::string& sql) { check(sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr)); }

  void check(int status) const {
    if (status != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle()));
  }

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A question with its answer; parameters are numbered from 1, columns from 0.
class Statement {
 public:
  Statement(Database& database, const std::string& sql) : database_(database) {
    sqlite3_stmt* made = nullptr;
    database.check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &made, nullptr));
    statement_.reset(made);
  }

  void bind(int place, sqlite3_int64 number) {
    database_.check(sqlite3_bind_int64(statement_.get(), place, number));
  }

  void bind(int place, std::span<const std::byte> bytes) {
    database_.check(
        sqlite3_bind_blob64(statement_.get(), place, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
  }

  /// Whether there is a row.
  bool step() {
    const int status = sqlite3_step(statement_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) database_.check(status);
    return status == SQLITE_ROW;
  }

  [[nodiscard]] sqlite3_int64 number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }

  /// Until the next step().
  [[nodiscard]] std::span<const std::byte> bytes(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// `name` is written into SQL as it is.
template <class Key, class Value>
class Table {
 public:
  Table(Database& database, const std::string& name) : database_(database), name_(name) {
    database.run("CREATE TABLE IF NOT EXISTS " + name +
                 " (hash INTEGER, key BLOB, value BLOB, PRIMARY KEY (hash, key)) WITHOUT ROWID");
  }

  void put(const Key& key, const Value& value) {
    Statement insert(database_, "INSERT OR REPLACE INTO " + name_ + " VALUES (?, ?, ?)");
    place(insert, key);
    insert.bind(3, mf::to_bytes(value));
    insert.step();
  }

  /// Throws if the row does not hold such a value.
  [[nodiscard]] std::optional<Value> get(const Key& key) const {
    Statement select(database_, "SELECT value FROM " + name_ + " WHERE hash = ? AND key = ?");
    place(select, key);
    if (!select.step()) return std::nullopt;
    return mf::from_bytes<Value>(select.bytes(0)).value();
  }

  [[nodiscard]] sqlite3_int64 size() const {
    Statement count(database_, "SELECT count(*) FROM " + name_);
    count.step();
    return count.number(0);
  }

 private:
  /// Two keys may have one hash, so the key is in the row as well. SQLite's integers are signed.
  static void place(Statement& statement, const Key& key) {
    statement.bind(1, static_cast<sqlite3_int64>(mf::hash64(key)));
    statement.bind(2, mf::to_bytes(key));
  }

  Database& database_;
  std::string name_;
};

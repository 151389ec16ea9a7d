import CSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The most bytes that one value, or one row, of a connection may have: SQLITE_LIMIT_LENGTH.
///
/// SQLite allows 1,000,000,000. Computing a value is one step of its virtual machine, during which
/// nobody is asked whether to stop: `printf('%.*c', 1000000000, 'x')` takes 20 seconds and several
/// gigabytes. The expression may come from a recipe, or from an index of the store itself.
///
/// A fixed limit would refuse a large value of a sound store. What is stored in a file is never larger
/// than the file, so the limit follows the size of what is read.
package struct ValueLimit: Sendable, Equatable {
  /// The limit in bytes.
  package let bytes: Int

  /// The limit of a connection that reads so many bytes in all.
  ///
  /// Four times as much leaves room for what is computed: text of a UTF-16 database grows by half in
  /// UTF-8, a letter becomes up to three in upper case. The rest is for values that are built from
  /// nothing; SQLite computes so many bytes in an eighth of a second.
  package init(reading bytes: Int) {
    self.bytes = min(Self.most, Self.least + 4 * min(max(0, bytes), Self.most))
  }

  /// The limit of a connection that reads almost nothing.
  static let least = 8 << 20
  /// SQLite's own limit, as it is compiled by default and by Apple.
  static let most = 1_000_000_000

  /// The bytes of a database file and of its logs; 0 where there is none.
  static func size(ofDatabaseAt path: String) -> Int {
    // Databases of their own in memory, or in a file without a name.
    guard !path.isEmpty, path != ":memory:" else { return 0 }
    return ["", "-wal", "-journal"].reduce(0) { sum, suffix in
      var status = stat()
      return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }
}

extension Connection {
  /// The most bytes that a value or row may have on this connection.
  package var valueLimit: Int {
    handle == nil ? 0 : Int(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1))
  }

  /// Limits values to what a database file can hold: that of the connection itself, and each that is
  /// attached from now on.
  package func limitValues() {
    guard !isLimited else { return }
    readPaths = [path]
    setLimit(fitLimit())
    BoundedFormatting.define(on: handle)
  }

  /// Takes into account that this connection also reads what `other` reads.
  func extendLimit(to other: Connection) {
    guard isLimited else { return }
    readBytes += other.readBytes
    readPaths += other.isLimited ? other.readPaths : [other.path]
    if other.isLive { isLive = true }
    setLimit(fitLimit())
  }

  /// Takes into account that a function returned a value that comes from none of the files, such as
  /// the content of an external data file.
  ///
  /// All such values are added up: a row may hold any number of them.
  package func extendLimit(by bytes: Int) {
    guard isLimited else { return }
    readBytes += bytes
    setLimit(fitLimit())
  }

  /// Follows a file that another program writes to.
  func followGrowth() {
    guard isLimited, isLive, handle != nil else { return }
    setLimit(fitLimit())
  }

  private func fitLimit() -> Int {
    ValueLimit(
      reading: readPaths.reduce(readBytes) { $0 + ValueLimit.size(ofDatabaseAt: $1) }
    ).bytes
  }

  /// Never less than before: a statement may be at work on a larger value.
  private func setLimit(_ bytes: Int) {
    let bytes = isLimited ? max(bytes, valueLimit) : bytes
    isLimited = true
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
  }
}

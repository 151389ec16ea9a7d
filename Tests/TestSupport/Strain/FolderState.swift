import Files

#if os(Linux)
  import Glibc
  import ManagedModel
  import ManagedStore

  /// What is in a store's folder, as far as it matters: what stores hold, and every other file.
  public struct FolderState: Equatable, Sendable {
    /// Every object of each store, or why it cannot be read, by the name of its main file.
    public var stores: [String: [String]] = [:]
    /// Every other file, folder and link, with its mode and content, by its path in the folder;
    /// without the -wal and -shm of the stores.
    public var others: [String: String] = [:]
    /// Logs of stores that are not empty.
    public var logs: Set<String> = []
    /// What others than its owner may read.
    public var exposed: [String] = []

    public init(of folder: String) throws { try add(folder, "", isHidden: false) }

    /// Names of all there is.
    public var names: Set<String> { Set(stores.keys).union(others.keys).union(logs) }

    private mutating func add(_ root: String, _ relative: String, isHidden: Bool) throws {
      for name in try FileSystem.list(relative.isEmpty ? root : root + "/" + relative) {
        let inner = relative.isEmpty ? name : relative + "/" + name
        let path = root + "/" + inner
        var info = stat()
        guard lstat(path, &info) == 0 else { continue }
        let mode = String(info.st_mode & 0o7777, radix: 8)
        let isOpen = info.st_mode & 0o077 != 0
        switch info.st_mode & S_IFMT {
        case S_IFDIR:
          others[inner] = "folder \(mode)"
          try add(root, inner, isHidden: isHidden || !isOpen)
        case S_IFLNK:
          others[inner] = "link " + Self.target(of: path)
        default:
          if isOpen, !isHidden { exposed.append(inner) }
          if name.hasSuffix("-wal") || name.hasSuffix("-shm") {
            if name.hasSuffix("-wal"), info.st_size > 0 { logs.insert(inner) }
          } else if try FileSystem.read(path, limit: 15) == Array("SQLite format 3".utf8) {
            others[inner] = "store \(mode)"
            do {
              stores[inner] = try StoreDump.lines(at: path)
            } catch {
              stores[inner] = ["\(error)"]
            }
          } else {
            others[inner] = "file \(mode) \(try FileSystem.sha256(path))"
          }
        }
      }
    }

    private static func target(of link: String) -> String {
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(link, &buffer, buffer.count - 1)
      return String(
        decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// How this differs from what was wanted, a sentence for each path.
    func differences(from wanted: FolderState, ignoringLogs: Bool = false) -> [String] {
      var result: [String] = []
      for name in Set(others.keys).union(wanted.others.keys).sorted() {
        switch (others[name], wanted.others[name]) {
        case (let now?, let then?) where now != then:
          result.append("\(name) is \(now), not \(then)")
        case (_?, nil): result.append("\(name) is left")
        case (nil, _?): result.append("\(name) is gone")
        default: break
        }
      }
      for name in Set(stores.keys).intersection(wanted.stores.keys).sorted()
      where stores[name] != wanted.stores[name] {
        result.append(
          "\(name) holds something else: \(Self.first(stores[name], wanted.stores[name]))")
      }
      if !ignoringLogs {
        for name in logs.symmetricDifference(wanted.logs).sorted() {
          result.append(logs.contains(name) ? "\(name) is left" : "\(name) is gone")
        }
      }
      return result
    }

    private static func first(_ one: [String]?, _ other: [String]?) -> String {
      let (one, other) = (one ?? [], other ?? [])
      let pair = zip(one, other).first { $0 != $1 }
      return pair.map { "\($0.prefix(200)), not \($1.prefix(200))" }
        ?? "\(one.count) objects, not \(other.count)"
    }
  }
#endif

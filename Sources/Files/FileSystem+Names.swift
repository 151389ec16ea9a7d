/// Paths and names as the file system has them: bytes, of which two spellings of one text are two.
///
/// Swift takes `é` in one code point and in two for equal, and a slash before a combining mark for
/// another character; neither holds for a name on the disk.
extension FileSystem {
  private static let slash = UInt8(ascii: "/")

  /// The folder a path is in; `nil` for a root.
  package static func parent(of path: String) -> String? {
    var bytes = path.utf8[...]
    if bytes.count > 1, bytes.last == slash { bytes = bytes.dropLast() }
    guard let index = bytes.lastIndex(of: slash) else { return bytes.isEmpty ? nil : "." }
    if index == bytes.startIndex { return bytes.count == 1 ? nil : "/" }
    return String(decoding: bytes[..<index], as: UTF8.self)
  }

  /// The last part of a path.
  package static func name(of path: String) -> String {
    path.utf8.split(separator: slash).last.map { String(decoding: $0, as: UTF8.self) } ?? path
  }

  /// The name up to its last dot, for a path or a name.
  package static func stem(of path: String) -> String {
    let bytes = Array(name(of: path).utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: bytes[..<dot], as: UTF8.self)
  }

  /// What follows a name's stem, with the dot; empty where there is none.
  package static func suffix(of path: String) -> String {
    let name = name(of: path)
    return String(decoding: name.utf8.dropFirst(stem(of: name).utf8.count), as: UTF8.self)
  }

  /// What a name holds after the bytes of a prefix; `nil` where it does not begin with them.
  package static func rest(of name: String, after prefix: String) -> String? {
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Whether two names are one on the disk.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }

  /// The path without links, `.` and `..`; the path itself where nothing is there.
  package static func canonical(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Where a file is or would be: a link is followed even where nothing lies at its end.
  package static func place(of path: String) -> String {
    var path = path
    for _ in 0..<40 {
      if let resolved = realpath(path, nil) {
        defer { free(resolved) }
        return String(cString: resolved)
      }
      let folder = canonical(parent(of: path) ?? ".")
      guard let target = target(ofLink: path) else { return folder + "/" + name(of: path) }
      path = target.utf8.first == slash ? target : folder + "/" + target
    }
    return path
  }

  /// What a symbolic link says; `nil` where none is at the path.
  package static func target(ofLink path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink(path, &buffer, Int(PATH_MAX))
    guard count > 0 else { return nil }
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

import Files
import ManagedModel

/// Paths of entries in a container.
enum EntryName {
  private static let slash = UInt8(ascii: "/")

  /// The path without `.` and doubled slashes, and why it leads out of the container, if it does.
  static func checked(_ name: String) -> (name: String, fault: String?) {
    let bytes = name.utf8
    // Nearly all of them: what C finds is found at once.
    if bytes.count <= 255, strlen(name) == bytes.count, !name.hasPrefix("/"), !name.hasPrefix("./"),
      !name.hasSuffix("/"), !name.isEmpty, name != ".",
      strstr(name, "..") == nil, strstr(name, "//") == nil, strstr(name, "/./") == nil,
      !name.hasSuffix("/.")
    {
      return (name, nil)
    }
    if bytes.first == slash { return (name, "has an absolute path") }
    var parts: [Substring.UTF8View] = []
    for part in name[...].utf8.split(separator: slash) {
      if part.elementsEqual(".".utf8) { continue }
      if part.elementsEqual("..".utf8) { return (name, "has a path that leaves the archive (..)") }
      if part.count > 255 { return (name, "has a name of more than 255 bytes") }
      parts.append(part)
    }
    if bytes.count > 4_000 { return (name, "has a path of more than 4,000 bytes") }
    if bytes.contains(0) { return (name, "has a name with a NUL in it") }
    let path = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    return (path, nil)
  }

  /// The folders that an entry is in, from the outermost on, each as a path.
  static func folders(of name: String) -> [String] {
    let bytes = Array(name.utf8)
    return bytes.indices.filter { bytes[$0] == slash }
      .map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// The folder that an entry is in, with a slash behind it; empty at the top.
  static func folder(of name: String) -> String {
    let bytes = Array(name.utf8)
    guard let index = bytes.lastIndex(of: slash) else { return "" }
    return String(decoding: bytes[...index], as: UTF8.self)
  }

  /// A name as messages show it, in quotes.
  static func quoted(_ name: String) -> String { "“\(name.printable)”" }
}

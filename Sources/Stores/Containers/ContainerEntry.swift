import Files
import ManagedModel

/// A file or folder in a container, by the path that it has in there.
package struct ContainerEntry: Sendable, Equatable {
  /// What it is.
  package enum Kind: Sendable, Equatable {
    case file
    case folder
    /// A symbolic link, or a second name of another entry: neither is ever followed or made.
    case link
    /// A device, a pipe, or a file in a form that is not read here.
    case other
  }

  /// Where its bytes are.
  enum Place: Sendable, Equatable {
    /// A file of its own, which may have quite another name.
    case file(String)
    /// A member of an archive, by its number.
    case member(Int)
    /// An entry of an archive in it, by the numbers of both.
    case nested(Int, Int)
  }

  /// Its path in the container, without a slash at either end.
  package var name: String
  /// What it is.
  package var kind: Kind
  /// The size that it has, or says it has.
  package var bytes: Int
  var place: Place
  /// How it is decrypted; `nil` for a file that is stored as it is.
  var cipher: FileCipher?
}

/// Paths of entries in a container.
enum EntryName {
  private static let slash = UInt8(ascii: "/")

  /// The path without `.`, doubled slashes and those at its beginning, which no program that unpacks
  /// archives follows; and why it leads out of the container, if it does.
  static func checked(_ name: String) -> (name: String, fault: String?) {
    let bytes = name.utf8
    // Nearly all of them: what C finds is found at once.
    if bytes.count <= 255, strlen(name) == bytes.count, bytes.first != slash,
      bytes.last != slash, !bytes.starts(with: "./".utf8), !bytes.isEmpty, name != ".",
      strstr(name, "..") == nil, strstr(name, "//") == nil, strstr(name, "/./") == nil,
      !name.hasSuffix("/.")
    {
      return (name, nil)
    }
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

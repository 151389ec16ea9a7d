import Files
import ManagedModel
import ManagedStore

/// A tar archive, packed or not, whose members are read in the order that they have in it.
struct TarArchive {
  let path: String
  let form: ArchiveForm
  let limits: ContainerLimits

  /// Passes the members by, from the first to the last.
  ///
  /// - Returns: why it ended before its end, where it is damaged or cut off.
  func read(_ visitor: TarReader.Visitor) throws -> CoreDataError? {
    var reader = TarReader()
    do {
      switch form {
      case .tar: try readPlain(&reader, visitor)
      case .gzip: try readGzip(&reader, visitor)
      default: try readThroughProgram(&reader, visitor)
      }
    } catch let error as CoreDataError {
      throw error.at(path: path)
    } catch let damage as TarReader.Damage {
      return damage.error.at(path: path)
    }
    return reader.isIncomplete ? cutOff(reader).error : nil
  }

  private func readPlain(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    let file = try OpenFile(path)
    var place = 0
    while place < file.size, !reader.isAtEnd {
      try Task.checkCancellation()
      let skipped = reader.skippable
      if skipped > 0 {
        guard skipped <= file.size - place else { throw cutOff(reader) }
        reader.skip(skipped)
        place += skipped
        continue
      }
      let bytes = try file.read(at: place, count: min(1 << 18, file.size - place))
      guard !bytes.isEmpty else { break }
      var rest = bytes[...]
      // Only as far as the next that can be passed over.
      while !rest.isEmpty, reader.skippable < 1 << 18, !reader.isAtEnd {
        let part = rest.prefix(1 << 12)
        try reader.read(part, visitor)
        rest = rest.dropFirst(part.count)
      }
      place += bytes.count - rest.count
    }
  }

  private func readGzip(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    let file = try OpenFile(path)
    let inflation = try Inflation(.gzip)
    var (place, unpacked) = (0, 0)
    while place < file.size, !reader.isAtEnd {
      try Task.checkCancellation()
      let bytes = try file.read(at: place, count: min(1 << 18, file.size - place))
      guard !bytes.isEmpty else { break }
      place += bytes.count
      let isSound = try inflation.read(bytes) { piece in
        unpacked += piece.count
        try check(unpacked, of: place, reader)
        try reader.read(piece, visitor)
      }
      guard isSound else {
        throw broken("damaged", reader)
      }
    }
    if !reader.isAtEnd, !inflation.isFinished { throw cutOff(reader) }
  }

  private func readThroughProgram(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    guard let program = form.program else { return }
    let size = FileSystem.status(path)?.size ?? 0
    var unpacked = 0
    let result = try Subprocess.run(
      program.name, ["-dc", "--", path], environment: Subprocess.environment()
    ) { piece in
      unpacked += piece.count
      try check(unpacked, of: size, reader)
      try reader.read(piece, visitor)
    }
    guard let result else {
      throw CoreDataError(
        .unreadable, "unpacking \(form.noun) needs \(program.name), which is not installed",
        path: path,
        hint:
          "Install it (apt-get install \(program.package)), or unpack the archive and give the folder."
      )
    }
    guard result.status == 0 || reader.isAtEnd else {
      throw broken("damaged (\(program.name): \(result.message.trimmed.printable))", reader)
    }
  }

  private func check(_ unpacked: Int, of packed: Int, _ reader: TarReader) throws {
    guard limits.isBomb(bytes: unpacked, packed: packed) else { return }
    throw ContainerLimits.bomb(
      bytes: unpacked, packed: packed, in: EntryName.quoted(reader.last))
  }

  private func cutOff(_ reader: TarReader) -> TarReader.Damage { broken("cut off", reader) }

  private func broken(_ how: String, _ reader: TarReader) -> TarReader.Damage {
    TarReader.Damage(
      error: CoreDataError(
        .unreadable,
        "the archive is \(how)"
          + (reader.last.isEmpty ? "" : " in or after \(EntryName.quoted(reader.last))"),
        path: path, hint: "Ask for it again, or unpack what is left of it and give the folder."))
  }
}

/// The block of 512 bytes before each member of a tar archive.
struct TarHeader {
  static let size = 512

  var name: String
  var bytes: Int
  /// What it is: `0` a file, `5` a folder, `x` attributes of the next member …
  var type: UInt8

  /// Whether a block is one: its checksum says so.
  static func isHeader(_ block: [UInt8]) -> Bool {
    guard block.count >= size, let stated = octal(block[148..<156]) else { return false }
    var sum = 8 * 0x20
    for index in 0..<size where index < 148 || index >= 156 { sum += Int(block[index]) }
    return sum == stated && sum > 8 * 0x20
  }

  /// `nil` for a block that is none.
  init?(_ block: [UInt8]) {
    guard Self.isHeader(block), let bytes = Self.number(block[124..<136]), bytes >= 0 else {
      return nil
    }
    self.bytes = bytes
    type = block[156] == 0 ? UInt8(ascii: "0") : block[156]
    let name = Self.text(block[0..<100])
    // GNU's has "ustar  ", and times in the place of the prefix.
    let hasPrefix = Array(block[257..<263]) == Array("ustar\0".utf8)
    let prefix = hasPrefix ? Self.text(block[345..<500]) : ""
    self.name = prefix.isEmpty ? name : prefix + "/" + name
  }

  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Octal digits, or a binary number where the first bit is set.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first, first & 0x80 != 0 else { return octal(bytes) }
    guard first == 0x80 else { return nil }
    var value = 0
    for byte in bytes.dropFirst() {
      guard value < 1 << 54 else { return nil }
      value = value << 8 | Int(byte)
    }
    return value
  }

  private static func octal(_ bytes: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for byte in bytes.drop(while: { $0 == 0x20 }) {
      if byte == 0 || byte == 0x20 { break }
      guard (0x30...0x37).contains(byte) else { return nil }
      value = value << 3 | Int(byte & 7)
    }
    return value
  }
}

/// A tar archive, read as its bytes come.
struct TarReader {
  /// What a member is, by its header and the attributes before it.
  struct Member {
    var name: String
    var kind: ContainerEntry.Kind
    var bytes: Int
  }

  /// What is done with members.
  struct Visitor {
    /// A member begins.
    ///
    /// - Returns: whether its bytes are wanted.
    var begin: (Member) throws -> Bool
    var data: (ArraySlice<UInt8>) throws -> Void = { _ in }
    var end: () throws -> Void = {}
  }

  /// What ends the reading of an archive that is damaged: what came before it is sound.
  struct Damage: Error {
    var error: CoreDataError
  }

  /// What blocks before a member say of it.
  private struct Attributes {
    var name: String?
    var bytes: Int?
    /// Whether its holes are left out, so that its bytes are not as they are read.
    var isSparse = false
  }

  private enum Content {
    case skipped
    case wanted
    /// Attributes of the next member, by the type of their header.
    case attributes(UInt8)
  }

  private var block: [UInt8] = []
  private var content = Content.skipped
  private var left = 0
  private var padding = 0
  private var collected: [UInt8] = []
  private var attributes = Attributes()
  private var emptyBlocks = 0
  private(set) var last = ""
  /// Whether the archive says that it ends here.
  private(set) var isAtEnd = false

  private static let attributesLimit = 1 << 20

  /// How many of the next bytes nobody wants to see.
  var skippable: Int { if case .skipped = content { left + padding } else { 0 } }

  /// Whether it would be cut off if nothing followed.
  var isIncomplete: Bool { left > 0 || !block.isEmpty }

  /// Passes over bytes that are ``skippable``.
  mutating func skip(_ count: Int) {
    let content = min(left, count)
    left -= content
    padding -= min(padding, count - content)
  }

  mutating func read(_ bytes: ArraySlice<UInt8>, _ visitor: Visitor) throws {
    var rest = bytes
    while !rest.isEmpty, !isAtEnd {
      if left > 0 {
        let part = rest.prefix(left)
        left -= part.count
        rest = rest.dropFirst(part.count)
        switch content {
        case .skipped: break
        case .wanted: try visitor.data(part)
        case .attributes: collected += part
        }
        if left == 0 { try finish(visitor) }
      } else if padding > 0 {
        let count = min(padding, rest.count)
        padding -= count
        rest = rest.dropFirst(count)
      } else {
        let part = rest.prefix(TarHeader.size - block.count)
        block += part
        rest = rest.dropFirst(part.count)
        if block.count == TarHeader.size { try begin(visitor) }
      }
    }
  }

  private mutating func begin(_ visitor: Visitor) throws {
    defer { block.removeAll(keepingCapacity: true) }
    if !block.contains(where: { $0 != 0 }) {
      emptyBlocks += 1
      isAtEnd = emptyBlocks == 2
      return
    }
    emptyBlocks = 0
    guard let header = TarHeader(block) else {
      throw Damage(
        error: CoreDataError(
          .unreadable,
          last.isEmpty
            ? "not a tar archive"
            : "the tar archive is damaged after \(EntryName.quoted(last))",
          hint: "Ask for it again, or unpack what is left of it and give the folder."))
    }
    switch header.type {
    case UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "L"), UInt8(ascii: "K"):
      guard header.bytes <= Self.attributesLimit else {
        throw CoreDataError(
          .unreadable, "the tar archive has a name of \(header.bytes) bytes",
          hint: "The archive is damaged or malicious: ask for another.")
      }
      collected = []
      take(.attributes(header.type), header.bytes)
    default:
      let isFolder = attributes.name == nil && header.name.utf8.last == UInt8(ascii: "/")
      var member = Member(
        name: attributes.name ?? header.name,
        kind: isFolder ? .folder : Self.kind(header.type),
        bytes: attributes.bytes ?? header.bytes)
      if attributes.isSparse { member.kind = .other }
      attributes = Attributes()
      last = member.name
      // Links and folders may state a size, and have no bytes.
      let size = "123456".utf8.contains(header.type) ? 0 : member.bytes
      if member.kind != .file { member.bytes = 0 }
      let isWanted = try visitor.begin(member)
      take(isWanted ? .wanted : .skipped, size)
    }
    if left == 0 { try finish(visitor) }
  }

  private mutating func take(_ content: Content, _ bytes: Int) {
    self.content = content
    left = bytes
    padding = (TarHeader.size - bytes % TarHeader.size) % TarHeader.size
  }

  private mutating func finish(_ visitor: Visitor) throws {
    switch content {
    case .skipped: break
    case .wanted: try visitor.end()
    case .attributes(let type):
      switch type {
      case UInt8(ascii: "L"): attributes.name = TarHeader.text(collected[...])
      case UInt8(ascii: "x"): readAttributes()
      default: break
      }
    }
    content = .skipped
  }

  /// Lines of `LENGTH KEY=VALUE`, the length being that of the whole line.
  private mutating func readAttributes() {
    var rest = collected[...]
    while let space = rest.firstIndex(of: 0x20),
      let length = Int(String(decoding: rest[..<space], as: UTF8.self)),
      length > space - rest.startIndex + 1, length <= rest.count
    {
      let line = rest[(space + 1)..<(rest.startIndex + length)].dropLast()
      rest = rest.dropFirst(length)
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = String(decoding: line[..<equals], as: UTF8.self)
      let value = String(decoding: line[(equals + 1)...], as: UTF8.self)
      switch key {
      case "path": attributes.name = value
      case "size": attributes.bytes = Int(value).flatMap { $0 >= 0 && $0 < 1 << 60 ? $0 : nil }
      case _ where key.hasPrefix("GNU.sparse."): attributes.isSparse = true
      default: break
      }
    }
  }

  private static func kind(_ type: UInt8) -> ContainerEntry.Kind {
    switch type {
    case UInt8(ascii: "0"), UInt8(ascii: "7"): .file
    case UInt8(ascii: "1"), UInt8(ascii: "2"): .link
    case UInt8(ascii: "5"): .folder
    default: .other
    }
  }
}

import Files
import ManagedStore

/// A database file whose pages a test spoils, as a dying disk or a copy that was cut off does.
public struct DamagedFile {
  public let path: String
  private var bytes: [UInt8]
  public let pageSize: Int

  public init(_ path: String) throws {
    self.path = path
    bytes = try FileSystem.read(path)
    let size = bytes.count < 18 ? 4096 : Int(bytes[16]) << 8 | Int(bytes[17])
    pageSize = size == 1 ? 65536 : size
  }

  /// Leaf pages of the table whose root is a page, in the order of their keys.
  public func leaves(root: Int) -> [Int] {
    bytes[header(of: root)] == 13 ? [root] : children(of: root).flatMap { leaves(root: $0) }
  }

  /// The pages below an interior page of a table, in the order of their keys; none of another page.
  public func children(of page: Int) -> [Int] {
    let header = header(of: page)
    guard bytes[header] == 5 else { return [] }
    let cells = (0..<(Int(bytes[header + 3]) << 8 | Int(bytes[header + 4]))).map { index in
      let at = header + 12 + 2 * index
      return number((page - 1) * pageSize + (Int(bytes[at]) << 8 | Int(bytes[at + 1])))
    }
    return cells + [number(header + 8)]
  }

  /// Page 1 begins with the database's own header.
  private func header(of page: Int) -> Int { (page - 1) * pageSize + (page == 1 ? 100 : 0) }

  /// Writes one page over another.
  public mutating func copy(page: Int, to other: Int) {
    bytes.replaceSubrange(
      (other - 1) * pageSize..<other * pageSize,
      with: bytes[(page - 1) * pageSize..<page * pageSize])
  }

  private func number(_ offset: Int) -> Int {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Makes a page zeros.
  public mutating func zero(page: Int) {
    for index in ((page - 1) * pageSize)..<(page * pageSize) { bytes[index] = 0 }
  }

  /// Overwrites bytes of a page.
  public mutating func poke(page: Int, at offset: Int, _ new: [UInt8]) {
    bytes.replaceSubrange(
      ((page - 1) * pageSize + offset)..<((page - 1) * pageSize + offset + new.count), with: new)
  }

  public func write() throws { try FileSystem.write(bytes, to: path) }
}

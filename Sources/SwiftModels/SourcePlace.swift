import ManagedModel

/// A line of a file of Swift source.
public struct SourcePlace: Sendable, Hashable {
  /// The file's path, as it was given.
  public var path: String
  /// The line, from 1.
  public var line: Int

  /// Names a line.
  public init(path: String, line: Int) {
    self.path = path
    self.line = line
  }
}

extension SourcePlace: CustomStringConvertible {
  /// As compilers write it: `path:line`.
  public var description: String { "\(path):\(line)" }
}

/// What the reader of Swift source could not see, or took for granted, at a place.
public struct SourceRemark: Sendable, Equatable {
  /// Where it is.
  public var place: SourcePlace
  /// What it is, as a clause.
  public var message: String

  init(_ place: SourcePlace, _ message: String) {
    self.place = place
    self.message = message
  }
}

extension SourceRemark: CustomStringConvertible {
  /// `path:line: message`.
  public var description: String { "\(place): \(message)".printable }
}

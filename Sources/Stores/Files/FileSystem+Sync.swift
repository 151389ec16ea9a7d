import Values

extension FileSystem {
  /// Forces everything that was written to the disk: of thousands of new files in one call what would be
  /// thousands.
  package static func syncAll() { syncDisks() }
}

// The method has nearly the name of the C function, which another method of the type hides.
private func syncDisks() { sync() }

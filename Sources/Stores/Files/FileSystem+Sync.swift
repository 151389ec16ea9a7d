extension Folder {
  /// Forces everything that was written to the folder's file system to the disk.
  ///
  /// For thousands of new files this is one call where each file by itself would be a commit of the file system's
  /// journal. Other disks of the machine are not waited for, as `sync()` does, and what could not be written is an error.
  ///
  /// - Returns: false where the system has no such call.
  /// - Throws: ``CoreDataError`` where the disk is full or fails.
  func syncFileSystem() throws -> Bool {
    // Glibc declares it for GNU sources only, which Swift's module map is not; on macOS it has another name and flags.
    #if canImport(Darwin)
      typealias Sync = @convention(c) (Int32, Int32) -> Int32
      let name = "fsync_volume_np"
    #else
      typealias Sync = @convention(c) (Int32) -> Int32
      let name = "syncfs"
    #endif
    guard let symbol = dlsym(nil, name) else { return false }
    let sync = unsafeBitCast(symbol, to: Sync.self)
    return try withDescriptor { descriptor in
      #if canImport(Darwin)
        // Wait, and have the drive write its cache.
        let result = sync(descriptor, 0x03)
      #else
        let result = sync(descriptor)
      #endif
      if result == 0 { return true }
      guard ![ENOSYS, EINVAL, ENOTSUP, EOPNOTSUPP].contains(errno) else { return false }
      throw FileSystem.failure(.sync, path)
    }
  }
}

extension MigrationPlan {
  /// A guess at how long a migration takes, from what it must read and write.
  static func secondsEstimated(bytes: Int, rows: Int) -> Double {
    Double(max(0, bytes)) / bytesPerSecond + Double(max(0, rows)) / rowsPerSecond
  }

  private static let bytesPerSecond = 20e6
  private static let rowsPerSecond = 50e3
}

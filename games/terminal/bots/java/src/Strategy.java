/**
 * A small strategy: turrets in front, walls before them, and scouts with one interceptor ahead of them.
 *
 * <p>{@code agon rules terminal} shows the rules; what a turn offers is in Terminal.java.
 */
public final class Strategy implements Terminal.Player {
    private static final int[][] TURRETS = {{3, 12}, {24, 12}, {8, 11}, {19, 11}, {13, 11}, {14, 11}};
    private static final int[][] WALLS = {{0, 13}, {27, 13}, {3, 13}, {24, 13}, {8, 12}, {19, 12}};
    private static final int[][] SUPPORTS = {{13, 3}, {14, 3}, {13, 4}, {14, 4}};

    /** How often the enemy came through on the left and on the right. */
    private final int[] breached = new int[2];

    public static void main(String[] arguments) throws java.io.IOException {
        Terminal.run(new Strategy());
    }

    @Override
    public void turn(Terminal.Config config, Terminal.Turn turn) {
        for (int[] at : TURRETS) turn.build(config.turret, at[0], at[1]);
        for (int[] at : WALLS) turn.build(config.wall, at[0], at[1]);
        for (int[] at : SUPPORTS) turn.build(config.support, at[0], at[1]);
        // The side where the enemy comes through is upgraded first.
        boolean right = breached[1] > breached[0];
        for (int place = 0; place < TURRETS.length; place++) {
            int[] at = TURRETS[right ? TURRETS.length - 1 - place : place];
            turn.upgrade(at[0], at[1]);
        }
        for (int[] at : SUPPORTS) turn.upgrade(at[0], at[1]);
        if (turn.mobilePoints >= 10) {
            int x = turn.number % 2 == 0 ? 13 : 14;
            turn.deploy(config.interceptor, 27 - x, 0, 1);
            turn.deploy(config.scout, x, 0, 1000);
        }
    }

    @Override
    public void frame(Terminal.Config config, Terminal.Frame frame) {
        for (Terminal.Event breach : frame.breaches) {
            if (breach.owner() == 2) breached[breach.at().x() < 14 ? 0 : 1]++;
        }
    }
}

"""What `dumbbell import` fits, compared with the paths that transfers really had."""

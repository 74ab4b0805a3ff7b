#!/usr/bin/perl
#SBATCH --nodes=1
#SBATCH --job-name=perl
#SBATCH --ntasks=2
#SBATCH --time=5
use strict;
use warnings;
$| = 1;
my @hosts = split /\n/, `scontrol show hostnames`;
print "nodes: ", scalar(@hosts), "\n";
system("srun", "-n", "2", "sh", "-c", 'echo "perl $SLURM_PROCID"') == 0 or die;
open(my $pipe, "-|", "srun -n 1 seq 3") or die;
my $sum = 0;
$sum += $_ while <$pipe>;
print "sum $sum\n";
exit 5;
